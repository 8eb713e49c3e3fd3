import { useEffect, useSyncExternalStore } from 'react';
import { Box, Text, useApp, useInput, useStdout, type Key } from 'ink';
import { computeLayout, FRAME_ROWS, MIN_SIZE, type Layout } from '../model/layout.js';
import { panelDefinition, type Model } from '../model/model.js';
import type { TuiSession } from '../tui-session.js';
import { DetailsPane } from './details-pane.js';
import { Dialog } from './dialogs.js';
import { Header, KeyLine, NoticeLine, Tabs } from './frame.js';
import { parseKeys } from './parse-keys.js';
import { ListView } from './list-view.js';

/** Connects a session to the terminal: keys, size and screen. */
export function App({ session }: { readonly session: TuiSession }) {
  const model = useSyncExternalStore(session.subscribe, session.snapshot);
  const { exit } = useApp();
  const { stdout } = useStdout();
  useInput((input: string, key: Key) => {
    for (const name of parseKeys(input, key)) session.dispatch({ type: 'key', key: name });
  });
  useEffect(() => {
    const onResize = (): void =>
      session.dispatch({ type: 'resized', columns: stdout.columns, rows: stdout.rows });
    stdout.on('resize', onResize);
    return () => {
      stdout.off('resize', onResize);
    };
  }, [session, stdout]);
  useEffect(() => {
    if (model.isClosing) exit();
  }, [model.isClosing, exit]);
  return <Screen model={model} />;
}

export function Screen({ model }: { readonly model: Model }) {
  const { columns, rows } = model.size;
  if (columns < MIN_SIZE.columns || rows < MIN_SIZE.rows)
    return (
      <Text wrap="truncate">
        {`${columns}x${rows} is too small, minimum ${MIN_SIZE.columns}x${MIN_SIZE.rows}. Press q to quit.`}
      </Text>
    );
  const layout = computeLayout(model);
  return (
    <Box flexDirection="column" width={columns} height={layout.rows}>
      <Header model={model} width={columns} />
      <Tabs model={model} width={columns} />
      <Body model={model} layout={layout} />
      <NoticeLine model={model} width={columns} />
      <KeyLine model={model} width={columns} />
    </Box>
  );
}

function Body({ model, layout }: { readonly model: Model; readonly layout: Layout }) {
  const { overlay, details } = model;
  if (overlay && overlay.kind !== 'search')
    return <Dialog model={model} width={layout.columns} height={layout.rows - FRAME_ROWS} />;
  const definition = panelDefinition(model.panel);
  const { section } = model.panels[model.panel];
  const isListFocused = !details.hasFocus;
  return (
    <Box>
      <Box flexDirection="column" width={layout.listColumns}>
        <ListView
          model={model}
          list={definition.main}
          title={definition.title}
          width={layout.listColumns}
          height={layout.mainRows}
          isCurrent={section === 'main'}
          hasFocus={isListFocused && section === 'main'}
          hasHeadings
        />
        {definition.second && (
          <ListView
            model={model}
            list={definition.second.list}
            title={definition.second.title}
            width={layout.listColumns}
            height={layout.secondRows}
            isCurrent={section === 'second'}
            hasFocus={isListFocused && section === 'second'}
            hasHeadings={false}
          />
        )}
      </Box>
      {details.isOpen && <DetailsPane model={model} />}
    </Box>
  );
}
