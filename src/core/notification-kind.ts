/** The notifications of MCP that servers send. Metrics count every other method as `_other`. */
const KINDS = [
  'tools/list_changed',
  'prompts/list_changed',
  'resources/list_changed',
  'resources/updated',
  'message',
  'progress',
] as const;

export type NotificationKind = (typeof KINDS)[number] | '_other';

export const NOTIFICATION_KINDS: readonly NotificationKind[] = [...KINDS, '_other'];

const BY_METHOD = new Map<string, NotificationKind>(KINDS.map((kind) => [`notifications/${kind}`, kind]));

export const notificationKind = (method: string): NotificationKind => BY_METHOD.get(method) ?? '_other';
