import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import { HttpSettings } from '../../config/http-settings.js';
import { GatewayError, shorten, type Era } from '../../core/errors.js';
import { MemoryLimitError } from '../../core/memory-limits.js';
import type { JsonDocument } from '../../lib/json-text/json-document.js';
import { claimedVersion, claimsEnvelope, badEnvelope, readEnvelope } from '../../mcp/envelope.js';
import type { Inbound } from '../../mcp/json-rpc.js';
import { MODERN_VERSIONS } from '../../mcp/revisions/modern.js';
import { headerMismatch, requireMethodHeader, requireNameHeader } from '../../mcp/standard-headers.js';
import { Metrics } from '../../metrics/metrics.js';
import type { RequestSource } from '../http-request.js';
import { acknowledge } from '../message-receiver.js';
import { RequestRunner, type RequestMessage } from '../request-runner.js';
import { classify, namesModernVersion, requireLegacyBatch } from './classify.js';
import { ModernRequest } from './modern-request.js';
import { ModernRequests } from './modern-requests.js';
import { ModernResponses } from './modern-responses.js';

/**
 * Receives the messages of revision 2026-07-28: decides whether a message is of this revision, checks its envelope and its
 * headers, and runs it. Switched off, it takes no message.
 */
@Injectable()
export class ModernIntake {
  readonly isOn: boolean;

  constructor(
    { modern }: HttpSettings,
    private readonly runner: RequestRunner,
    private readonly requests: ModernRequests,
    private readonly responses: ModernResponses,
    private readonly metrics: Metrics,
  ) {
    this.isOn = modern;
  }

  /** The era whose codes the errors of an HTTP request have before its body is read. */
  eraOf(headers: IncomingHttpHeaders): Era {
    return this.isOn && namesModernVersion(headers) ? '2026' : '2025';
  }

  /** Throws for a batch of this revision, which has none. */
  requireLegacyBatch(body: JsonDocument, headers: IncomingHttpHeaders): void {
    if (this.isOn) requireLegacyBatch(body, headers);
  }

  /** Processes a message of this revision. Returns false for one of another revision. Throws when it is refused. */
  receive(message: Inbound, response: ServerResponse, source: RequestSource): boolean {
    if (!this.isOn || message.kind === 'invalid' || classify(message, source.headers) === 'legacy')
      return false;
    if (message.kind === 'request') this.run(message, response, source);
    else {
      if (message.kind === 'notification') requireConsistentNotification(message, source.headers);
      acknowledge(response);
    }
    return true;
  }

  private run(message: RequestMessage, response: ServerResponse, source: RequestSource): void {
    const envelope = this.readEnvelope(message);
    requireVersion(envelope.version, source.headers);
    requireMethodHeader(message.method, source.headers);
    requireNameHeader(message.method, message.params, source.headers);
    const request = new ModernRequest(message, envelope, source, response, this.responses);
    void this.runner.run(request, message, source.headers, () => this.requests.begin(request));
  }

  private readEnvelope({ params, paramsText }: RequestMessage): ReturnType<typeof readEnvelope> {
    try {
      return readEnvelope(params, paramsText);
    } catch (error) {
      if (error instanceof MemoryLimitError) this.metrics.countMemoryLimit(error.memoryLimit);
      throw error;
    }
  }
}

function requireVersion(version: string, headers: IncomingHttpHeaders): void {
  requireSameVersion(version, headers);
  if (MODERN_VERSIONS.includes(version)) return;
  throw new GatewayError('unsupported-version', `Unsupported protocol version: ${shorten(version)}`, {
    supported: MODERN_VERSIONS,
    requested: shorten(version),
  });
}

function requireSameVersion(version: string, { 'mcp-protocol-version': header }: IncomingHttpHeaders): void {
  if (header !== version) throw headerMismatch('MCP-Protocol-Version must be the version in the envelope');
}

/** Notifications have no effect in this revision: a client cancels a request by closing its response. */
function requireConsistentNotification(
  { params }: Extract<Inbound, { kind: 'notification' }>,
  headers: IncomingHttpHeaders,
): void {
  if (!claimsEnvelope(params)) return;
  const version = claimedVersion(params);
  if (version === undefined) throw badEnvelope('the protocol version must be a string');
  if (headers['mcp-protocol-version'] !== undefined) requireSameVersion(version, headers);
}
