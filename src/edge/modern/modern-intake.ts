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
import { LinkOwners } from './link-owners.js';
import { ModernRequest, type ModernServices } from './modern-request.js';
import { ModernRequests } from './modern-requests.js';
import { ModernResponses } from './modern-responses.js';
import { ParkedCalls } from './parked-calls.js';

/**
 * Receives the messages of revision 2026-07-28: decides whether a message is of this revision, checks its envelope and
 * its headers, and runs it. If `http.modern` is off, no message counts as one of this revision.
 */
@Injectable()
export class ModernIntake {
  readonly isOn: boolean;
  private readonly services: ModernServices;

  constructor(
    { modern }: HttpSettings,
    private readonly runner: RequestRunner,
    private readonly requests: ModernRequests,
    responses: ModernResponses,
    private readonly parkedCalls: ParkedCalls,
    linkOwners: LinkOwners,
    private readonly metrics: Metrics,
  ) {
    this.isOn = modern;
    this.services = { responses, parkedCalls, linkOwners };
  }

  /** The era of the error codes for a refused request, according to its headers: its body may not have been read. */
  eraOf(headers: IncomingHttpHeaders): Era {
    return this.isOn && namesModernVersion(headers) ? '2026' : '2025';
  }

  /** Throws if a batch is of this revision, which has no batches. */
  requireLegacyBatch(body: JsonDocument, headers: IncomingHttpHeaders): void {
    if (this.isOn) requireLegacyBatch(body, headers);
  }

  /**
   * Processes a message of this revision. Returns false for a message of another revision. Throws if the message is
   * refused.
   */
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
    const request = new ModernRequest(message, envelope, source, response, this.services);
    if (!this.resume(request, message))
      this.runner.run(request, message, source.headers, () => this.requests.begin(request));
  }

  /** If the request answers the questions of a parked call, continues this call. Otherwise returns false. */
  private resume(request: ModernRequest, { params }: RequestMessage): boolean {
    try {
      const parked = this.parkedCalls.find(params?.['requestState'], request);
      if (!parked) return false;
      const limitError = request.limitError();
      if (limitError) throw limitError;
      const { call } = parked;
      call.resume(request, () => this.requests.enterInFlight(call));
    } catch (error) {
      this.runner.respondWithError(request, error);
    }
    return true;
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

/**
 * Throws if header and envelope of a notification contradict. Notifications of clients have no effect in this revision:
 * a client cancels a request by closing its response.
 */
function requireConsistentNotification(
  { params }: Extract<Inbound, { kind: 'notification' }>,
  headers: IncomingHttpHeaders,
): void {
  if (!claimsEnvelope(params)) return;
  const version = claimedVersion(params);
  if (version === undefined) throw badEnvelope('the protocol version must be a string');
  if (headers['mcp-protocol-version'] !== undefined) requireSameVersion(version, headers);
}
