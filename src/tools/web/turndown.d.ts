/** What we use of the package, which comes without types; the DOM is its own. */
declare module 'turndown' {
  export interface DomNode {
    readonly nodeName: string;
    readonly textContent: string;
    readonly isBlock: boolean;
    readonly parentNode: DomNode | null;
    getAttribute(name: string): string | null;
    querySelector(selector: string): DomNode | undefined;
    querySelectorAll(selector: string): Iterable<DomNode>;
  }
  interface Rule {
    filter: string | readonly string[];
    replacement(content: string, node: DomNode): string;
  }
  export default class TurndownService {
    constructor(options: Readonly<Record<string, unknown>>);
    escape: (text: string) => string;
    addRule(name: string, rule: Rule): this;
    turndown(html: string): string;
  }
}
