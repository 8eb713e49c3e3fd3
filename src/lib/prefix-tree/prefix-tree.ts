/**
 * A radix tree: a map that finds the values of all keys that are prefixes of a text. A lookup takes time linear in the
 * length of the text, independent of the number of keys. A key adds at most two nodes.
 */
export class PrefixTree<T extends object> {
  private readonly root: Node<T> = { label: '', value: undefined, children: undefined };

  get(key: string): T | undefined {
    let node = this.root;
    for (let at = 0; at < key.length; at += node.label.length) {
      const child = childAt(node, key, at);
      if (!child) return undefined;
      node = child;
    }
    return node.value;
  }

  set(key: string, value: T): void {
    let node = this.root;
    let at = 0;
    while (at < key.length) {
      const child = node.children?.get(key.charCodeAt(at));
      if (!child) {
        add(node, { label: key.slice(at), value, children: undefined });
        return;
      }
      const shared = sharedLength(child.label, key, at);
      node = shared < child.label.length ? split(node, child, shared) : child;
      at += shared;
    }
    node.value = value;
  }

  delete(key: string): void {
    let parent: Node<T> | undefined;
    let node = this.root;
    for (let at = 0; at < key.length; at += node.label.length) {
      const child = childAt(node, key, at);
      if (!child) return;
      parent = node;
      node = child;
    }
    node.value = undefined;
    if (node.children) this.compress(node);
    else if (parent) {
      remove(parent, node);
      this.compress(parent);
    }
  }

  /** Visits the values of all keys that are prefixes of the text, with the lengths of the keys, shortest key first. */
  forEachPrefixOf(text: string, visit: (value: T, length: number) => void): void {
    let node: Node<T> | undefined = this.root;
    let length = 0;
    while (node) {
      if (node.value) visit(node.value, length);
      node = childAt(node, text, length);
      length += node?.label.length ?? 0;
    }
  }

  *values(): Generator<T, void, undefined> {
    // A stack instead of recursion: if each key extends another one, the tree is as deep as the number of keys.
    const stack = [this.root];
    for (let node = stack.pop(); node; node = stack.pop()) {
      if (node.value) yield node.value;
      for (const child of node.children?.values() ?? []) stack.push(child);
    }
  }

  /** Merges a node with its only child if the node has no value. */
  private compress(node: Node<T>): void {
    if (node === this.root || node.value || node.children?.size !== 1) return;
    for (const child of node.children.values()) {
      node.label += child.label;
      node.value = child.value;
      node.children = child.children;
    }
  }
}

interface Node<T> {
  /** The characters that this node appends to the labels on the path from the root to its parent. Empty only at the root. */
  label: string;
  value: T | undefined;
  /** Key: the code of the first character of the child's label. */
  children: Map<number, Node<T>> | undefined;
}

function childAt<T>(node: Node<T>, text: string, at: number): Node<T> | undefined {
  const child = node.children?.get(text.charCodeAt(at));
  return child && hasAt(text, child.label, at) ? child : undefined;
}

function add<T>(parent: Node<T>, child: Node<T>): void {
  parent.children ??= new Map();
  parent.children.set(child.label.charCodeAt(0), child);
}

function remove<T>(parent: Node<T>, child: Node<T>): void {
  parent.children?.delete(child.label.charCodeAt(0));
  if (parent.children?.size === 0) parent.children = undefined;
}

/** Inserts a node between parent and child. The new node takes the first `length` characters of the child's label. */
function split<T>(parent: Node<T>, child: Node<T>, length: number): Node<T> {
  const between: Node<T> = { label: child.label.slice(0, length), value: undefined, children: undefined };
  add(parent, between);
  child.label = child.label.slice(length);
  add(between, child);
  return between;
}

/**
 * The length of the common prefix of the label and the text from `at` on. Their first characters are equal. Uses a binary
 * search, because comparing slices is far cheaper than comparing each character.
 */
function sharedLength(label: string, text: string, at: number): number {
  let shortest = 1;
  let longest = label.length;
  while (shortest < longest) {
    const middle = Math.ceil((shortest + longest) / 2);
    if (hasAt(text, label.slice(shortest, middle), at + shortest)) shortest = middle;
    else longest = middle - 1;
  }
  return shortest;
}

const hasAt = (text: string, part: string, at: number): boolean => text.slice(at, at + part.length) === part;
