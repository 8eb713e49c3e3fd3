import type { AdminDecision, ServerDetail } from '../../client/admin-types.js';
import { printable } from '../../client/printable.js';
import {
  formatAge,
  formatBytes,
  formatCount,
  formatDecision,
  formatState,
  formatUpdates,
  pluralize,
} from '../../client/format.js';
import { describeClient, describeSubscription } from './client-details.js';
import { DetailPage } from './detail-page.js';
import type { ListRow, DisabledTool } from './list-row.js';
import { highlighterFor } from './highlight.js';
import { computeLayout } from './layout.js';
import { selectedRow, currentList, type Model, type Preview } from './model.js';
import { schemaLines } from './schema-lines.js';
import { span, stateStyle, textLine, type TextLine } from './text-line.js';

/** Maximum number of stderr lines in the pane. `gatehouse servers show` prints all lines that the gateway has. */
const MAX_STDERR_LINES = 20;

/** Width of ` │ `, the left border of the pane. The pane has no right border. */
const BORDER_WIDTH = 3;

const detailWidth = (model: Model): number => computeLayout(model).detailColumns - BORDER_WIDTH;

/** The contents of the details pane for the selected row. */
export function detailLines(model: Model): readonly TextLine[] {
  const row = selectedRow(model);
  const width = detailWidth(model);
  if (!row || width <= 0) return [textLine('no row selected', 'dim')];
  if (model.details.preview) return previewPage(model.details.preview, width);
  const page = new DetailPage(width, highlighterFor(currentList(model), model.panels[model.panel].query));
  describe(row, model, page);
  return page.lines;
}

/** The preview of a resource. It has no highlights, because a search does not cover the contents of resources. */
function previewPage({ uri, lines, problem }: Preview, width: number): readonly TextLine[] {
  const page = new DetailPage(width);
  page.field('preview of', uri);
  page.add([[]]);
  if (problem !== undefined) page.text(problem, 'bad');
  else if (lines === undefined) page.text('reading…', 'dim');
  else for (const line of lines) page.wrappedLine(line);
  return page.lines;
}

function describe(row: ListRow, model: Model, page: DetailPage): void {
  switch (row.kind) {
    case 'server':
      return describeServer(row.item, model, page);
    case 'tool':
      return describeTool(row.item, page);
    case 'disabled-tool':
      return describeDisabledTool(row.item, page);
    case 'prompt':
      return describePrompt(row.item, page);
    case 'resource':
      return describeResource(row.item, page);
    case 'template':
      return describeTemplate(row.item, page);
    case 'subscription':
      return describeSubscription(row, model, page);
    case 'client':
      return describeClient(row.item, model, page);
  }
}

type Item<K extends ListRow['kind']> = Extract<ListRow, { kind: K }>['item'];

function describeServer(server: Item<'server'>, model: Model, page: DetailPage): void {
  const { id, state, reason, transport, since, restarts, calls, inFlight, waiting, pid, counts } = server;
  const loadedDetail = model.serverDetail?.detail;
  const detail = loadedDetail?.id === id ? loadedDetail : undefined;
  page.field('server', id, 'bold');
  page.field('state', formatState(server), stateStyle(state));
  page.field('cause', server.cause, 'bad');
  if (state !== 'ready') page.field('reason', reason, 'bad');
  page.field('transport', transport);
  if (since !== undefined)
    page.field(state === 'ready' ? 'uptime' : 'state for', formatAge(since, model.now));
  if (server.downSince !== undefined) page.field('down for', formatAge(server.downSince, model.now));
  if (server.attempts > 0) page.field('attempts', formatAttempts(server));
  page.field('restarts', formatCount(restarts));
  page.field('process', pid);
  page.field('calls', `${formatCount(calls)} (${inFlight} running, ${waiting} queued)`);
  page.field('tools', formatToolCount(counts.tools, counts.disabledTools));
  page.field('prompts', formatCount(counts.prompts));
  page.field('resources', formatCount(counts.resources));
  page.field('templates', formatCount(counts.templates));
  if (server.serverInfo) page.field('software', `${server.serverInfo.name} ${server.serverInfo.version}`);
  page.field('protocol', server.protocolVersion);
  if (server.era === '2026') page.field('era', `${server.era} since ${server.eraSince}`);
  const updates = formatUpdates(server);
  // `formatUpdates` changes only the values `none` and `unsolicited`, which are problems. Only a problem is shown.
  const isProblem = updates !== server.updates;
  if (isProblem) page.field('updates', updates, 'busy');
  page.field('defined by', server.origin === 'config' ? 'configuration' : 'administrator');
  for (const decision of server.decisions ?? []) page.field('decided', formatDecision(decision));
  if (!detail) return;
  page.heading('Latest stderr output');
  const { stderr } = detail;
  if (stderr.length === 0) page.text('none', 'dim');
  if (stderr.length > MAX_STDERR_LINES)
    page.text(`… ${pluralize(stderr.length - MAX_STDERR_LINES, 'earlier line')}`, 'dim');
  for (const line of stderr.slice(-MAX_STDERR_LINES)) page.text(line);
  if (detail.missingCapabilities) {
    page.heading('Not offered to the server');
    page.text(
      `${detail.missingCapabilities.join(', ')}: clients share its link (isolation: session offers them)`,
    );
  }
  if (detail.lastFailure && state === 'ready') describeFailure(detail.lastFailure, model, page);
  page.heading('Definition');
  page.json(detail.definition);
}

/**
 * Adds the last failure of a ready server. While a server is down, the pane already shows the reason and the stderr output of
 * its last failure.
 */
function describeFailure(
  { time, cause, reason, stderr }: NonNullable<ServerDetail['lastFailure']>,
  { now }: Model,
  page: DetailPage,
): void {
  page.heading('Last failure');
  page.text(`${formatAge(time, now)} ago, ${cause}: ${reason}`, 'busy');
  for (const line of stderr.slice(-MAX_STDERR_LINES)) page.text(line);
}

const formatAttempts = ({ attempts, nextAttempt }: Item<'server'>): string =>
  nextAttempt === undefined ? formatCount(attempts) : `${formatCount(attempts)}, next at ${nextAttempt}`;

const formatToolCount = (enabled: number, disabled: number): string =>
  disabled === 0 ? formatCount(enabled) : `${formatCount(enabled)} (${disabled} disabled)`;

function describeTool({ name, server, ownName, definition, decision }: Item<'tool'>, page: DetailPage): void {
  page.field('tool', name, 'bold');
  page.field('title', definition['title']);
  page.field('server', server);
  page.field('own name', ownName);
  describeDefinition(definition, decision, page);
}

function describeDisabledTool(
  { ownName, server, title, description, definition, decision }: DisabledTool,
  page: DetailPage,
): void {
  page.field('tool', ownName, 'bold');
  page.field('title', title);
  page.field('server', server);
  page.field('state', 'disabled: hidden from all clients', 'busy');
  // A gateway of an older version sends no definition of a disabled tool.
  describeDefinition(definition ?? { description }, decision, page);
}

/** For example `readOnly, not destructive`. Returns annotations unchanged if a value is not a boolean. */
function formatHints(annotations: unknown): unknown {
  if (typeof annotations !== 'object' || annotations === null) return annotations;
  const hints = Object.entries(annotations).filter(([name]) => name !== 'title');
  if (hints.some(([, value]) => typeof value !== 'boolean')) return annotations;
  return hints
    .map(([name, value]) => `${value === true ? '' : 'not '}${name.replace(/Hint$/, '')}`)
    .join(', ');
}

/** Description, arguments, result and schema of a tool, and the decision about it. */
function describeDefinition(
  definition: Readonly<Record<string, unknown>>,
  decision: AdminDecision | undefined,
  page: DetailPage,
): void {
  const { inputSchema, outputSchema, description, annotations, ...rest } = definition;
  page.field('hints', formatHints(annotations));
  if (description !== undefined) page.heading('Description');
  page.text(description);
  page.heading('Arguments');
  page.add(schemaLines(inputSchema, page.width));
  if (outputSchema !== undefined) {
    page.heading('Result');
    page.add(schemaLines(outputSchema, page.width));
  }
  describeRest(rest, page);
  if (decision) {
    page.heading('Decided');
    page.text(formatDecision(decision));
  }
  page.heading('Schema');
  page.json(inputSchema ?? {});
}

function describePrompt({ name, server, ownName, definition }: Item<'prompt'>, page: DetailPage): void {
  const { arguments: promptArguments, description, title, ...rest } = definition;
  page.field('prompt', name, 'bold');
  page.field('title', title);
  page.field('server', server);
  page.field('own name', ownName);
  if (description !== undefined) page.heading('Description');
  page.text(description);
  page.heading('Arguments');
  const listed = Array.isArray(promptArguments) ? (promptArguments as Record<string, unknown>[]) : [];
  if (listed.length === 0) page.text('none', 'dim');
  for (const { name: argument, description: what, required } of listed) {
    page.add([
      [span(printable(String(argument)), 'accent'), span(required === true ? '  required' : '', 'dim')],
    ]);
    page.text(what);
  }
  describeRest(rest, page);
}

function describeResource(resource: Item<'resource'>, page: DetailPage): void {
  const { uri, ownUri, server, id, subscribers, definition } = resource;
  const { name, title, description, mimeType, size: bytes, ...rest } = definition;
  page.field('URI', uri, 'bold');
  page.field('own URI', ownUri);
  page.field('server', server);
  page.field('name', name);
  page.field('title', title);
  page.field('type', mimeType);
  if (typeof bytes === 'number') page.field('size', `${formatBytes(bytes)} (${formatCount(bytes)} bytes)`);
  if (subscribers !== undefined) page.field('subscribers', formatCount(subscribers));
  page.field('id', id);
  if (description !== undefined) page.heading('Description');
  page.text(description);
  describeRest(rest, page);
}

function describeTemplate(
  { uriTemplate, ownUri, server, id, definition }: Item<'template'>,
  page: DetailPage,
): void {
  const { name, title, description, mimeType, ...rest } = definition;
  page.field('template', uriTemplate, 'bold');
  page.field('own URI', ownUri);
  page.field('server', server);
  page.field('name', name);
  page.field('title', title);
  page.field('type', mimeType);
  page.field('id', id);
  if (description !== undefined) page.heading('Description');
  page.text(description);
  describeRest(rest, page);
}

/** Members that `describeRest` leaves out, because another part of the pane shows them. */
const SHOWN_MEMBERS = ['uri', 'uriTemplate', 'name', 'title'];

/** Shows the remaining members of a definition. */
function describeRest(rest: Readonly<Record<string, unknown>>, page: DetailPage): void {
  const entries = Object.entries(rest).filter(
    ([name, value]) => value !== undefined && !SHOWN_MEMBERS.includes(name),
  );
  if (entries.length === 0) return;
  page.heading('Metadata');
  page.json(Object.fromEntries(entries));
}
