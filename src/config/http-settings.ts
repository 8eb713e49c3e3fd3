import { Flag, Text, TextList, Whole } from './schema/keys.js';

const ORIGIN = {
  pattern: /^[a-z][a-z\d+.-]*:\/\/[^\s/?#@]+$/,
  says: 'must be an origin like https://app.example.com, without path or final slash',
};

/** Where the gateway listens and whom it answers. */
export class HttpSettings {
  @Text('Address to listen on. Beyond loopback only together with auth or allowRemoteWithoutAuth.', {
    open: true,
  })
  readonly host: string = '127.0.0.1';

  @Whole(0, 65535, 'Port to listen on; 0 takes a free one.')
  readonly port: number = 3000;

  @TextList(
    'Host headers to answer besides those of loopback: names under which clients reach the gateway.',
    {
      rule: { pattern: /^[^\s/@]+$/, says: 'must be a host or host:port, without scheme or path' },
      open: true,
    },
  )
  readonly allowedHosts: readonly string[] = [];

  @TextList('Origins of web pages that may talk to the gateway. A request without Origin needs no entry.', {
    rule: ORIGIN,
    open: true,
  })
  readonly allowedOrigins: readonly string[] = [];

  @Flag('Listen beyond loopback although clients are not authenticated.')
  readonly allowRemoteWithoutAuth: boolean = false;
}
