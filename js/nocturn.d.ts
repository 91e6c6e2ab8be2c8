// Generated from the registry by scripts/generate or `nocturn types`; do not edit.

// What a script finds when nocturn runs it, beside the language itself.
//
// For an editor: put this file into the project, with "lib": ["es2023"] and "types": [], since the
// DOM's and Node's own declarations name much that is not there.

/** A call was refused or failed; thrown by every tool. */
declare class NocturnError extends Error {
  private constructor();
  /** Stable, and what programs compare. */
  readonly code:
    | "UNKNOWN_TOOL"
    | "BAD_ARGUMENTS"
    | "PATH_ESCAPE"
    | "TOO_LARGE"
    | "LEAK_BLOCKED"
    | "NOT_FOUND"
    | "NAME_TAKEN"
    | "NOT_A_NOTE"
    | "CONFLICT"
    | "GATE_DENIED"
    | "LIMIT"
    | "STORAGE"
    | "CANCELLED"
    | "INTERNAL";
  /** The tool that was called. */
  readonly tool: string | null;
  /** What a program can act on: of GATE_DENIED the `reason`, of BAD_ARGUMENTS the `field`. */
  readonly detail: { readonly [key: string]: any };
}

/** What a call gives: the value at once, or a promise of it. */
type NocturnReply<Value, Async extends boolean> = Async extends true ? Promise<Value> : Value;

/** A function that calls a tool and waits; its `async` form does not wait. */
type NocturnWrapper<Call extends (...args: any[]) => any> = Call & {
  readonly async: (...args: Parameters<Call>) => Promise<ReturnType<Call>>;
};

interface Nocturn {
  /** Calls a tool by its name, and waits for its reply. */
  readonly call: NocturnCall<false>;
  /** Calls a tool by its name; calls that are not awaited run side by side. */
  readonly callAsync: NocturnCall<true>;
  /** What the script was given after its name. */
  readonly args: readonly string[];
}
declare const nocturn: Nocturn;
declare module "nocturn" {
  const all: Nocturn;
  export default all;
  export const call: Nocturn["call"];
  export const callAsync: Nocturn["callAsync"];
  export const args: Nocturn["args"];
  const error: typeof NocturnError;
  export { error as NocturnError };
}

/** Prints its arguments, as console.log does. */
declare function print(...values: any[]): void;

interface Console {
  log(...values: any[]): void;
  info(...values: any[]): void;
  warn(...values: any[]): void;
  error(...values: any[]): void;
  debug(...values: any[]): void;
  trace(...values: any[]): void;
  dir(value: any, options?: object): void;
  table(rows: any, columns?: readonly string[]): void;
  assert(condition?: any, ...values: any[]): void;
  group(...values: any[]): void;
  groupCollapsed(...values: any[]): void;
  groupEnd(): void;
  time(label?: string): void;
  timeLog(label?: string, ...values: any[]): void;
  timeEnd(label?: string): void;
  count(label?: string): void;
  countReset(label?: string): void;
}
declare var console: Console;

declare function setTimeout(f: (...args: any[]) => any, ms?: number, ...args: any[]): number;
declare function clearTimeout(timer?: number): void;
declare function setInterval(f: (...args: any[]) => any, ms?: number, ...args: any[]): number;
declare function clearInterval(timer?: number): void;
declare function queueMicrotask(f: () => void): void;
declare function structuredClone<T>(value: T): T;
declare function atob(text: string): string;
declare function btoa(text: string): string;

declare class DOMException extends Error {
  constructor(message?: string, name?: string);
}
declare class Event {
  constructor(type: string);
  readonly type: string;
  readonly target: EventTarget | null;
}
declare class EventTarget {
  addEventListener(type: string, listener: (event: Event) => any, options?: object): void;
  removeEventListener(type: string, listener: (event: Event) => any): void;
  dispatchEvent(event: Event): boolean;
}
declare class AbortSignal extends EventTarget {
  private constructor();
  static abort(reason?: any): AbortSignal;
  static timeout(ms: number): AbortSignal;
  static any(signals: Iterable<AbortSignal>): AbortSignal;
  readonly aborted: boolean;
  readonly reason: any;
  onabort: ((event: Event) => any) | null;
  throwIfAborted(): void;
}
declare class AbortController {
  readonly signal: AbortSignal;
  abort(reason?: any): void;
}

declare class TextEncoder {
  readonly encoding: string;
  encode(text?: string): Uint8Array;
  encodeInto(text: string, into: Uint8Array): { read: number; written: number };
}
declare class TextDecoder {
  constructor(label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean });
  readonly encoding: string;
  readonly fatal: boolean;
  readonly ignoreBOM: boolean;
  decode(bytes?: ArrayBuffer | ArrayBufferView, options?: { stream?: boolean }): string;
}

declare class URLSearchParams {
  constructor(from?: string | Iterable<readonly [string, string]> | { [name: string]: string });
  readonly size: number;
  append(name: string, value: string): void;
  delete(name: string, value?: string): void;
  get(name: string): string | null;
  getAll(name: string): string[];
  has(name: string, value?: string): boolean;
  set(name: string, value: string): void;
  sort(): void;
  forEach(f: (value: string, name: string, all: URLSearchParams) => void): void;
  entries(): IterableIterator<[string, string]>;
  keys(): IterableIterator<string>;
  values(): IterableIterator<string>;
  [Symbol.iterator](): IterableIterator<[string, string]>;
}
declare class URL {
  static canParse(url: string, base?: string | URL): boolean;
  static parse(url: string, base?: string | URL): URL | null;
  constructor(url: string | URL, base?: string | URL);
  href: string;
  readonly origin: string;
  protocol: string;
  username: string;
  password: string;
  host: string;
  hostname: string;
  port: string;
  pathname: string;
  search: string;
  readonly searchParams: URLSearchParams;
  hash: string;
  toJSON(): string;
}

declare const crypto: {
  getRandomValues<T extends ArrayBufferView>(into: T): T;
  randomUUID(): string;
};
declare const performance: { now(): number };

type NocturnEncoding = "utf8" | "utf-8" | "base64" | "base64url" | "hex";
interface Buffer extends Uint8Array {
  toString(encoding?: NocturnEncoding, start?: number, end?: number): string;
  equals(other: Uint8Array): boolean;
}
declare const Buffer: {
  from(from: string, encoding?: NocturnEncoding): Buffer;
  from(from: ArrayBuffer | Iterable<number>): Buffer;
  alloc(size: number): Buffer;
  concat(list: readonly Uint8Array[]): Buffer;
  byteLength(from: string | Uint8Array, encoding?: NocturnEncoding): number;
  isBuffer(value: any): value is Buffer;
};

interface NocturnCall<Async extends boolean> {
  /**
   * List the notes, a page at a time.
   *
   * What `memory_stat` gives of each, sorted by path, and where to go on:
   *
   *     {"notes": […], "cursor": "people/lina.md"}
   */
  (tool: "memory_list", args?: {
    /** Notes on a page, 1 to 200. */
    limit?: number;
    /** The cursor of the page before. */
    cursor?: string | null;
  }): NocturnReply<Record<string, any>, Async>;
  /**
   * Read one note, whole, its preamble with the summary included.
   *
   * The file's text, its preamble included.
   */
  (tool: "memory_read", args: {
    /** Path relative to the memory folder; ends in .md. Group related notes in folders, e.g. people/lina.md or prefs/coding.md. */
    path: string;
  }): NocturnReply<string, Async>;
  /**
   * Forget one note: move it to the trash.
   *
   * The canonical path:
   *
   *     {"path": "people/lina.md", "removed": true}
   */
  (tool: "memory_remove", args: {
    /** Path relative to the memory folder; ends in .md. Group related notes in folders, e.g. people/lina.md or prefs/coding.md. */
    path: string;
    /** The version that must be there (memory_stat has it); null: there must be no such note yet. Left out: whatever is there is replaced. */
    ifVersion?: string | null;
  }): NocturnReply<Record<string, any>, Async>;
  /**
   * What there is to know of one note without reading it: summary, size, time, version.
   *
   * `bytes` is the whole file's size, `modified` ISO 8601 in UTC, `version` a token that changes whenever the file does:
   *
   *     {"path": "people/lina.md", "summary": "daughter, 7 years old", "bytes": 84,
   *      "modified": "2026-03-01T08:30:00.000Z", "version": "5f0c9a…"}
   */
  (tool: "memory_stat", args: {
    /** Path relative to the memory folder; ends in .md. Group related notes in folders, e.g. people/lina.md or prefs/coding.md. */
    path: string;
  }): NocturnReply<Record<string, any>, Async>;
  /**
   * Remember something past the end of this conversation: write one note, whole.
   *
   * One fact is one note. To amend a note, read it first. Worth remembering is what will still
   * matter in a month: who somebody is, what they like, what was decided, what you were told to
   * do from now on. Not worth it: what only this conversation is about, and what can be looked
   * up. A note that is no longer true is worse than none: correct it as soon as you know.
   *
   * The canonical path, the stored summary, and the size of the whole file in bytes:
   *
   *     {"path": "people/lina.md", "summary": "daughter, 7 years old", "bytesWritten": 84}
   */
  (tool: "memory_write", args: {
    /** Path relative to the memory folder; ends in .md. Group related notes in folders, e.g. people/lina.md or prefs/coding.md. */
    path: string;
    /** The single line that the memory catalog shows in every later prompt. White space becomes single spaces; longer than 120 characters is cut. */
    summary: string;
    /** The note's body as Markdown, at most 65,536 bytes of UTF-8. */
    content: string;
    /** The version that must be there (memory_stat has it); null: there must be no such note yet. Left out: whatever is there is replaced. */
    ifVersion?: string | null;
  }): NocturnReply<Record<string, any>, Async>;
  /**
   * Add to the end of one note that is there; its summary stays.
   *
   * The canonical path, the summary, which stays, and the whole file's size in bytes:
   *
   *     {"path": "people/lina.md", "summary": "daughter, 7 years old", "bytesWritten": 102}
   */
  (tool: "memory_append", args: {
    /** Path relative to the memory folder; ends in .md. Group related notes in folders, e.g. people/lina.md or prefs/coding.md. */
    path: string;
    /** What comes to the end of the note, on a line of its own. */
    text: string;
    /** The version that must be there (memory_stat has it). Left out: whatever is there is amended. */
    ifVersion?: string | null;
  }): NocturnReply<Record<string, any>, Async>;
  /**
   * Replace a text in one note that is there; its summary stays.
   *
   * The canonical path, the summary, which stays, and the whole file's size in bytes:
   *
   *     {"path": "people/lina.md", "summary": "daughter, 7 years old", "bytesWritten": 84}
   */
  (tool: "memory_edit", args: {
    /** Path relative to the memory folder; ends in .md. Group related notes in folders, e.g. people/lina.md or prefs/coding.md. */
    path: string;
    /** The text that is to go; it stands in the note's body exactly once. */
    old: string;
    /** What comes in its place; empty to leave it out. */
    new: string;
    /** The version that must be there (memory_stat has it). Left out: whatever is there is amended. */
    ifVersion?: string | null;
  }): NocturnReply<Record<string, any>, Async>;
  /**
   * Give one note another path; its text and its summary stay.
   *
   * Both canonical paths:
   *
   *     {"path": "people/lina.md", "to": "family/lina.md"}
   */
  (tool: "memory_move", args: {
    /** Path relative to the memory folder; ends in .md. Group related notes in folders, e.g. people/lina.md or prefs/coding.md. */
    path: string;
    /** The new path, by the same rules; no note may be there. */
    to: string;
    /** The version that must be there (memory_stat has it). Left out: whatever is there is moved. */
    ifVersion?: string | null;
  }): NocturnReply<Record<string, any>, Async>;
  /**
   * Find notes by what they say, the best first: path, summary, and a snippet of each.
   *
   * The notes that have every word and phrase, the best first; words in a path or a summary count for more. `snippet` is plain text on one line: some thirty words around the first that was found, with `…` where it was cut:
   *
   *     [{"path": "people/lina.md", "summary": "daughter, 7 years old",
   *       "snippet": "Likes dinosaurs. Starts school in August."}]
   */
  (tool: "memory_search", args: {
    /** Words, all of which a note must have; "several words in a row"; and beginn* for a word that begins so. At most 1,024 bytes and 32 terms. */
    query: string;
    /** Notes at most, 1 to 50. */
    limit?: number;
  }): NocturnReply<Array<Record<string, any>>, Async>;
  /**
   * Keep what you have learned for the sessions to come: add an entry, correct it, drop it.
   *
   * Worth keeping is what will still matter in a month: who the user is, what they like and
   * dislike, what was decided, how they want you to work. Not worth it: what only this talk is
   * about, what can be looked up, secrets. Keep one fact in one entry; when a fact changes,
   * replace its entry rather than adding another. What you change is on the disk at once; you
   * will be told of it from the next session on.
   *
   * One line of text:
   *
   *     ok (add → MEMORY.md); loads next session
   */
  (tool: "memory", args: {
    /** add: a new entry. replace, remove: a text that is there. */
    action: "add" | "replace" | "remove";
    /** For add the entry, one fact in a line. For the others the text exactly as it stands there. */
    text: string;
    /** self: your own notes, MEMORY.md. user: what you know of the user, USER.md. */
    target?: "self" | "user";
    /** For replace: what is to stand there instead. */
    with?: string;
    /** Whether all is meant, where text is there twice. */
    all?: boolean;
  }): NocturnReply<string, Async>;
  /**
   * The present date and time, and the time zone of the person.
   *
   * Now, as text with the local offset, as a number, and the local zone:
   *
   *     {"iso": "2026-03-01T09:30:00.000+01:00", "epochMs": 1772353800000, "timezone": "Europe/Berlin"}
   */
  (tool: "time_now", args?: Record<string, never>): NocturnReply<Record<string, any>, Async>;
}
interface Nocturn {
  /**
   * The present date and time, and the time zone of the person.
   *
   * Now, as text with the local offset, as a number, and the local zone:
   *
   *     {"iso": "2026-03-01T09:30:00.000+01:00", "epochMs": 1772353800000, "timezone": "Europe/Berlin"}
   */
  readonly now: NocturnWrapper<() => Record<string, any>>;
  readonly memory: {
    /**
     * List the notes, a page at a time.
     *
     * What `memory_stat` gives of each, sorted by path, and where to go on:
     *
     *     {"notes": […], "cursor": "people/lina.md"}
     */
    readonly list: NocturnWrapper<(options?: {
      /** Notes on a page, 1 to 200. */
      limit?: number;
      /** The cursor of the page before. */
      cursor?: string | null;
    }) => Record<string, any>>;
    /**
     * Read one note, whole, its preamble with the summary included.
     *
     * The file's text, its preamble included.
     * @param path Path relative to the memory folder; ends in .md. Group related notes in folders, e.g. people/lina.md or prefs/coding.md.
     */
    readonly read: NocturnWrapper<(path: string) => string>;
    /**
     * Forget one note: move it to the trash.
     *
     * The canonical path:
     *
     *     {"path": "people/lina.md", "removed": true}
     * @param path Path relative to the memory folder; ends in .md. Group related notes in folders, e.g. people/lina.md or prefs/coding.md.
     */
    readonly remove: NocturnWrapper<(path: string, options?: {
      /** The version that must be there (memory_stat has it); null: there must be no such note yet. Left out: whatever is there is replaced. */
      ifVersion?: string | null;
    }) => Record<string, any>>;
    /**
     * What there is to know of one note without reading it: summary, size, time, version.
     *
     * `bytes` is the whole file's size, `modified` ISO 8601 in UTC, `version` a token that changes whenever the file does:
     *
     *     {"path": "people/lina.md", "summary": "daughter, 7 years old", "bytes": 84,
     *      "modified": "2026-03-01T08:30:00.000Z", "version": "5f0c9a…"}
     * @param path Path relative to the memory folder; ends in .md. Group related notes in folders, e.g. people/lina.md or prefs/coding.md.
     */
    readonly stat: NocturnWrapper<(path: string) => Record<string, any>>;
    /**
     * Remember something past the end of this conversation: write one note, whole.
     *
     * One fact is one note. To amend a note, read it first. Worth remembering is what will still
     * matter in a month: who somebody is, what they like, what was decided, what you were told to
     * do from now on. Not worth it: what only this conversation is about, and what can be looked
     * up. A note that is no longer true is worse than none: correct it as soon as you know.
     *
     * The canonical path, the stored summary, and the size of the whole file in bytes:
     *
     *     {"path": "people/lina.md", "summary": "daughter, 7 years old", "bytesWritten": 84}
     * @param path Path relative to the memory folder; ends in .md. Group related notes in folders, e.g. people/lina.md or prefs/coding.md.
     * @param summary The single line that the memory catalog shows in every later prompt. White space becomes single spaces; longer than 120 characters is cut.
     * @param content The note's body as Markdown, at most 65,536 bytes of UTF-8.
     */
    readonly write: NocturnWrapper<(path: string, summary: string, content: string, options?: {
      /** The version that must be there (memory_stat has it); null: there must be no such note yet. Left out: whatever is there is replaced. */
      ifVersion?: string | null;
    }) => Record<string, any>>;
    /**
     * Add to the end of one note that is there; its summary stays.
     *
     * The canonical path, the summary, which stays, and the whole file's size in bytes:
     *
     *     {"path": "people/lina.md", "summary": "daughter, 7 years old", "bytesWritten": 102}
     * @param path Path relative to the memory folder; ends in .md. Group related notes in folders, e.g. people/lina.md or prefs/coding.md.
     * @param text What comes to the end of the note, on a line of its own.
     */
    readonly append: NocturnWrapper<(path: string, text: string, options?: {
      /** The version that must be there (memory_stat has it). Left out: whatever is there is amended. */
      ifVersion?: string | null;
    }) => Record<string, any>>;
    /**
     * Replace a text in one note that is there; its summary stays.
     *
     * The canonical path, the summary, which stays, and the whole file's size in bytes:
     *
     *     {"path": "people/lina.md", "summary": "daughter, 7 years old", "bytesWritten": 84}
     * @param path Path relative to the memory folder; ends in .md. Group related notes in folders, e.g. people/lina.md or prefs/coding.md.
     * @param old The text that is to go; it stands in the note's body exactly once.
     * @param new_ What comes in its place; empty to leave it out.
     */
    readonly edit: NocturnWrapper<(path: string, old: string, new_: string, options?: {
      /** The version that must be there (memory_stat has it). Left out: whatever is there is amended. */
      ifVersion?: string | null;
    }) => Record<string, any>>;
    /**
     * Give one note another path; its text and its summary stay.
     *
     * Both canonical paths:
     *
     *     {"path": "people/lina.md", "to": "family/lina.md"}
     * @param path Path relative to the memory folder; ends in .md. Group related notes in folders, e.g. people/lina.md or prefs/coding.md.
     * @param to The new path, by the same rules; no note may be there.
     */
    readonly move: NocturnWrapper<(path: string, to: string, options?: {
      /** The version that must be there (memory_stat has it). Left out: whatever is there is moved. */
      ifVersion?: string | null;
    }) => Record<string, any>>;
  };
  readonly persona: {
    readonly add: NocturnWrapper<(text: string, given?: { target?: "self" | "user" }) => string>;
    readonly replace: NocturnWrapper<(text: string, instead: string, given?: { target?: "self" | "user"; all?: boolean }) => string>;
    readonly remove: NocturnWrapper<(text: string, given?: { target?: "self" | "user"; all?: boolean }) => string>;
  };
}
declare module "nocturn" {
  export const now: Nocturn["now"];
  export const memory: Nocturn["memory"];
  export const persona: Nocturn["persona"];
}
