import type { ListName, ServerDetail, ServerSummary, SessionItem } from '../../client/admin-types.js';
import type { ListId, DisabledTool } from './list-row.js';
import type { TuiAction } from './model.js';
import type { LoadedPage } from './paged-list.js';
import type { TuiRequest } from './tui-request.js';

type PageRequest = Extract<TuiRequest, { kind: 'page' }>;
type DisabledToolsRequest = Extract<TuiRequest, { kind: 'disabled-tools' }>;

/** Everything that changes the model: keys, time, the event feed, and results of requests. */
export type TuiEvent =
  | { readonly type: 'key'; readonly key: string }
  | { readonly type: 'resized'; readonly columns: number; readonly rows: number }
  | { readonly type: 'tick'; readonly now: number }
  | { readonly type: 'connected' }
  | { readonly type: 'lost'; readonly problem: string; readonly retryAt: number }
  | { readonly type: 'feed'; readonly kind: string; readonly data: Readonly<Record<string, unknown>> }
  | { readonly type: 'lists-changed'; readonly lists: readonly ListId[] }
  | { readonly type: 'servers'; readonly servers: readonly ServerSummary[]; readonly version: number }
  | { readonly type: 'page'; readonly request: PageRequest; readonly page: LoadedPage }
  | {
      readonly type: 'disabled-tools';
      readonly request: DisabledToolsRequest;
      readonly tools: readonly DisabledTool[];
    }
  | { readonly type: 'server'; readonly detail: ServerDetail; readonly version: number }
  | { readonly type: 'session'; readonly session: SessionItem }
  | { readonly type: 'total'; readonly list: ListName; readonly total: number; readonly version: number }
  | { readonly type: 'preview'; readonly uri: string; readonly lines: readonly string[] }
  | { readonly type: 'failed'; readonly request: TuiRequest; readonly problem: string }
  | { readonly type: 'done'; readonly action: TuiAction; readonly text: string };
