import type { ScriptedCall } from './scripted-call.js';

type Read = (call: ScriptedCall) => object | string | undefined | void | Promise<object | string | undefined>;

/** The default result of a read: a text with the requested URI. */
export const contents = (uri: string, text = `read ${uri}`): object => ({
  contents: [{ uri, mimeType: 'text/plain', text }],
});

/** The resources and templates of a scripted server. */
export class ScriptedResources {
  /** Whether a resource or template was ever added. Only then, the server declares the capability. */
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

  /** An unlisted URI is read too, as it may be an instance of a template. */
  read(call: ScriptedCall): ReturnType<Read> {
    const uri = String(call.params['uri']);
    const known = this.resources.get(uri);
    return known ? known.read(call) : contents(uri);
  }
}
