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
