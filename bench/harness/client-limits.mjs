/** Limits under which so many anonymous clients of one address can connect: they are one principal. */
export const limitsFor = (clients) => ({
  sessions: 2 * clients,
  sessionsPerPrincipal: 2 * clients,
  listens: 2 * clients,
  streamsPerPrincipal: 2 * clients,
  connectionsPerPrincipal: 4 * clients,
  subscriptionsPerPrincipal: 2 * clients,
});
