import { extractWWWAuthenticateParams } from '@modelcontextprotocol/sdk/client/auth.js';
import { OAuthProtectedResourceMetadataSchema } from '@modelcontextprotocol/sdk/shared/auth.js';
import { describe, expect, it } from '@jest/globals';
import { authSettings } from '../../../test/kit/auth.js';
import { challenge, type BearerError } from './challenge.js';
import { metadataUrl, protectedResource } from './protected-resource.js';

const settings = (audience: string, more = {}) =>
  authSettings({ jwt: { issuer: 'https://id.example.com', audience, ...more } }).jwt!;

/** Parses the header like the SDK's client. */
const parsed = (value: string) =>
  extractWWWAuthenticateParams(new Response(null, { status: 401, headers: { 'www-authenticate': value } }));

describe('challenge', () => {
  const jwt = settings('https://mcp.example.com/mcp', { scopes: ['mcp:use', 'mcp:admin'] });
  const resourceMetadataUrl = new URL('https://mcp.example.com/.well-known/oauth-protected-resource/mcp');

  it.each<[string, BearerError | undefined]>([
    ['no error without a token', undefined],
    ['the error of an invalid token', { error: 'invalid_token', description: 'The token has expired' }],
    [
      'the error of a missing scope',
      { error: 'insufficient_scope', description: 'The token lacks a required scope' },
    ],
  ])('names the resource metadata, and %s', (_what, bearerError) => {
    expect(parsed(challenge(jwt, bearerError))).toEqual({
      resourceMetadataUrl,
      scope: 'mcp:use mcp:admin',
      error: bearerError?.error,
    });
  });

  it('names no resource metadata when only keys are configured', () => {
    expect(challenge(undefined)).toBe('Bearer realm="gatehouse"');
  });
});

describe('metadataUrl', () => {
  it.each([
    ['https://mcp.example.com', 'https://mcp.example.com/.well-known/oauth-protected-resource'],
    ['https://mcp.example.com/', 'https://mcp.example.com/.well-known/oauth-protected-resource'],
    [
      'https://example.com:8443/gw/mcp',
      'https://example.com:8443/.well-known/oauth-protected-resource/gw/mcp',
    ],
    ['https://a.example.com/"x', 'https://a.example.com/.well-known/oauth-protected-resource/%22x'],
  ])('of %s is %s', (audience, url) => {
    expect(metadataUrl(settings(audience))).toBe(url);
  });

  it('is derived from the resource if the audience differs', () => {
    const jwt = settings('api://gatehouse', { resource: 'https://mcp.example.com/mcp' });
    expect(metadataUrl(jwt)).toBe('https://mcp.example.com/.well-known/oauth-protected-resource/mcp');
  });
});

it('protectedResource matches the schema of the SDK', () => {
  const metadata = protectedResource(settings('https://mcp.example.com/mcp'));
  expect(OAuthProtectedResourceMetadataSchema.parse(metadata)).toEqual(metadata);
  expect(metadata).not.toHaveProperty('scopes_supported');
});
