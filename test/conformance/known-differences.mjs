/** Checks of clients of 2026 that differ in front of a server of 2025, by scenario. */
export const OF_LEGACY_SERVERS = {};
