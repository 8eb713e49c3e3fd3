/** A page of `docs/`, which `scripts/bundle.mjs` includes as text. */
declare module '*.md' {
  const text: string;
  export default text;
}
