const POSIX = 'PATH HOME LANG LANGUAGE TERM TZ TMPDIR USER LOGNAME SHELL'.split(' ');

const WINDOWS = (
  'PATH PATHEXT COMSPEC SYSTEMROOT SYSTEMDRIVE WINDIR PROCESSOR_ARCHITECTURE PROGRAMFILES PROGRAMDATA ' +
  'APPDATA LOCALAPPDATA TEMP TMP HOMEDRIVE HOMEPATH USERNAME USERPROFILE'
).split(' ');

/** Paths of certificates. TLS connections need them in a network with a private certificate authority. */
const CERTIFICATES = ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'REQUESTS_CA_BUNDLE'];

const PROXIES = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY'];

const INHERITED = new Set([...(process.platform === 'win32' ? WINDOWS : POSIX), ...CERTIFICATES]);

/**
 * The environment of a child process: an allow-list of the gateway's variables, and the configured variables of the
 * server, which take precedence. Other variables of the gateway may be secrets of other servers.
 */
export function childEnvironment(
  configured: Readonly<Record<string, string>> = {},
  gateway: NodeJS.ProcessEnv = process.env,
): Record<string, string> {
  const inherited: Record<string, string> = {};
  for (const [name, value] of Object.entries(gateway)) {
    if (value !== undefined && isInherited(name, value)) inherited[name] = value;
  }
  return { ...inherited, ...configured };
}

function isInherited(name: string, value: string): boolean {
  // A proxy URL with a password is a secret. A server gets it only if it is in the configuration of that server.
  if (PROXIES.includes(name.toUpperCase())) return !value.includes('@');
  return name.startsWith('LC_') || INHERITED.has(process.platform === 'win32' ? name.toUpperCase() : name);
}
