/** The cells as Markdown tables: rows of clients of each era, and rows of servers. */
export function table(columns, cells) {
  const parts = [];
  for (const role of ['client', 'client-2026', 'server']) {
    const own = columns.filter((column) => column.role === role);
    if (own.length > 0) parts.push(tableOf(role, own, cells));
  }
  return parts.join('\n');
}

function tableOf(role, columns, cells) {
  const rows = [
    [role, ...columns.map(({ title }) => title)],
    ['---', ...columns.map(() => '---')],
    ...columns[0].rows.map((row) => [
      row.title,
      ...columns.map((column) => cells.get(`${column.id} ${role} ${row.title}`) ?? '–'),
    ]),
  ];
  const widths = rows[0].map((_, index) => Math.max(...rows.map((row) => row[index].length)));
  const padded = (row) =>
    row.map((cell, index) => (cell === '---' ? '-'.repeat(widths[index]) : cell.padEnd(widths[index])));
  return rows.map((row) => `| ${padded(row).join(' | ')} |\n`).join('');
}
