// Talks to the server. The session is this tab's, and travels in a header: no cookie, so that no
// other site can have the browser send it.

const KEY = "nocturn session";
const RETRY_SECONDS = [1, 2, 4, 8];

export class Refused extends Error {
  constructor(status, error) {
    super(error.message || `the server answered ${status}`);
    this.status = status;
    this.code = error.code ?? null;
    this.detail = error.detail ?? {};
  }
}

export const session = {
  get there() {
    return sessionStorage.getItem(KEY) !== null;
  },
  end() {
    sessionStorage.removeItem(KEY);
  },
};

// Uses up the link that this page was opened with, if it was, and takes it out of the history.
export async function enter() {
  const token = /^#in=([\w-]+)$/.exec(location.hash)?.[1];
  if (!token) return;
  history.replaceState(null, "", location.pathname);
  const given = await send("/api/login", { token });
  sessionStorage.setItem(KEY, given.session);
}

export function get(path, asked = {}) {
  const query = new URLSearchParams(asked).toString();
  return answerTo(query ? `${path}?${query}` : path, {});
}

export function send(path, body = {}) {
  const headers = { "Content-Type": "application/json" };
  return answerTo(path, { method: "POST", body: JSON.stringify(body), headers });
}

// Follows what happens, until the session ends: each event goes to the function of its name.
export async function follow(tell, lost) {
  for (let failures = 0; session.there; failures += 1) {
    try {
      const response = await request("/api/events", {});
      failures = 0;
      await read(response.body, tell);
    } catch (error) {
      if (error instanceof Refused && error.status === 401) throw error;
      if (session.there) lost();
    }
    await seconds(RETRY_SECONDS[Math.min(failures, RETRY_SECONDS.length - 1)]);
  }
}

async function read(body, tell) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const events = (rest + value).split("\n\n");
    rest = events.pop();
    for (const event of events) {
      const [, name, data] = /^event: (\w+)\ndata: (.*)$/.exec(event) ?? [];
      if (name) tell[name]?.(JSON.parse(data));
    }
  }
}

async function answerTo(path, options) {
  return (await request(path, options)).json();
}

async function request(path, options) {
  const held = sessionStorage.getItem(KEY);
  const authorization = held ? { Authorization: `Bearer ${held}` } : {};
  const response = await fetch(path, {
    ...options,
    headers: { ...options.headers, ...authorization },
    cache: "no-store",
    credentials: "omit",
    redirect: "error",
  });
  if (response.ok) return response;
  const told = await response.json().catch(() => ({}));
  throw new Refused(response.status, told.error ?? {});
}

function seconds(number) {
  return new Promise((resolve) => setTimeout(resolve, number * 1000));
}
