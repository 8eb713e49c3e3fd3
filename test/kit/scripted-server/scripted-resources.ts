import type { ScriptedCall } from './scripted-call.js';

type Read = (call: ScriptedCall) => object | string | undefined | void | Promise<object | string | undefined>;

/** What every read answers that no test says anything else of: the URI that the server was asked for. */
export const contents = (uri: string, words = `read ${uri}`): object => ({
  contents: [{ uri, mimeType: 'text/plain', text: words }],
});

/** The resources and templates of a scripted backend. */
export class ScriptedResources {
  /** Whether there ever were any: a server without them does not say that it has some. */
  areOffered = false;
  private readonly resources = new Map<string, { readonly definition: string; readonly read: Read }>();
  private readonly templates = new Map<string, string>();

  add(uri: string, read: Read = () => contents(uri), definition = JSON.stringify({ uri, name: uri })): void {
    this.areOffered = true;
    this.resources.set(uri, { definition, read });
  }

  addTemplate(
    uriTemplate: string,
    definition = JSON.stringify({ uriTemplate, name: `any ${uriTemplate}` }),
  ): void {
    this.areOffered = true;
    this.templates.set(uriTemplate, definition);
  }

  remove(uri: string): void {
    this.resources.delete(uri);
    this.templates.delete(uri);
  }

  get list(): string {
    return `{"resources":[${[...this.resources.values()].map(({ definition }) => definition).join(',')}]}`;
  }

  get templateList(): string {
    return `{"resourceTemplates":[${[...this.templates.values()].join(',')}]}`;
  }

  /** What is in no list is read all the same: it may be an instance of a template. */
  read(call: ScriptedCall): ReturnType<Read> {
    const uri = String(call.params['uri']);
    const known = this.resources.get(uri);
    return known ? known.read(call) : contents(uri);
  }
}
