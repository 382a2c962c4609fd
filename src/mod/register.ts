/**
 * The mod: our code inside Claude Code's CLI, which loads it from the plugin folder (measured with 2.1.332). It asks
 * the executable (`mods.ts`) for one operation after another, and reports usage and answers. It shows nothing.
 * The CLI runs this file as it is: it imports nothing, and only functions at the top of the file may call `$`.
 */

/** Must equal MOD_CONTRACT in `mods.ts`, which refuses any other. */
const CONTRACT = 1;
/** The executable's folder, which it writes here: a project's settings can change variables of the environment. */
const SOCKETS = "MOD_FOLDER";
const NAME = /^[/\\][\w-]+\.sock$/;
const REFUSED = 409;
/** How long we wait after a failure: the executable may restart, or be gone. */
const RETRY_MS = 2_000;
/** How long pieces of an answer are collected. */
const MERGE_MS = 50;
/** After /clear and /resume the CLI has its new session's id by then. */
const RENEWED_MS = 250;

// biome-ignore lint/suspicious/noExplicitAny: the CLI declares it in 23,551 lines, and "may change between releases".
type Engine = any;

/** Distinguishes two CLIs that claim the same session. */
const mod = crypto.randomUUID();
let executable: { socketPath: string; token: string } | undefined;
/** The id that the executable knows. */
let session = "";
let usage: object | undefined;
/** The turn of the conversation itself. */
let turn: string | undefined;
/** The answer that Claude is writing, and pieces that are not sent yet: empty unless someone reads them. */
let written = "";
let unsent: { text: string; done: boolean }[] = [];
let isFollowed = false;
let isServing = false;
let isSending = false;
/** The ids of the operations under way: the executable learns which others are lost. */
const open = new Set<number>();

/** Socket and token are in the lock file by which the CLI finds its IDE, so the environment holds no secret. */
async function find($: Engine): Promise<typeof executable> {
  // On Windows, Git Bash sets HOME to a path of its own.
  const home = await (SOCKETS[0] === "/" ? $.env.get("HOME") : $.env.get("USERPROFILE"));
  const folder = (await $.env.get("CLAUDE_CONFIG_DIR")) || `${home}/.claude`;
  const path = `${folder}/ide/${await $.env.get("CLAUDE_CODE_SSE_PORT")}.lock`;
  const { modSocket, authToken } = JSON.parse(await $.fs.read(path));
  const isOurs = modSocket?.startsWith(SOCKETS) && NAME.test(modSocket.slice(SOCKETS.length));
  return isOurs ? { socketPath: modSocket, token: authToken } : undefined;
}

/** Sends it with everything that identifies us. Status 0 means that the executable could not be reached. */
async function post($: Engine, path: string, body: object): Promise<Engine> {
  try {
    executable ??= isServing ? await find($) : undefined;
    if (!executable) return { status: REFUSED };
    const { socketPath, token } = executable;
    session = await $.session.id();
    return await $.http.fetch(`http://mod/${path}`, {
      method: "POST",
      headers: { "X-Claude-Code-Ide-Authorization": token },
      body: JSON.stringify({ ...body, contract: CONTRACT, mod, session }),
      socketPath,
    });
  } catch {
    executable = undefined;
    return { status: 0 };
  }
}

/** Sends the session's id, which may be new. A relay adds the task list. */
async function announce($: Engine, delayMs: number): Promise<void> {
  await $.clock.sleep(delayMs);
  await post($, "report", {});
}

/** Asks for operations until the executable refuses this version of the mod, or serves none. */
async function serve($: Engine): Promise<void> {
  isServing = true;
  for (;;) {
    const { status, text } = await post($, "next", { usage, open: [...open] });
    if (status === REFUSED) break;
    if (status === 200) perform($, text).catch(() => {});
    if (status === 200 || status === 204) continue;
    executable = undefined;
    await $.clock.sleep(RETRY_MS);
  }
  isServing = false;
  executable = undefined;
}

/** Several are under way at once: a prompt waits for the end of a turn, or for the answer to a dialog. */
async function perform($: Engine, operation: string): Promise<void> {
  const { id, op, text, args } = JSON.parse(operation);
  open.add(id);
  const answer = await run($, op, text, args).catch((error) => ({ refused: String(error) }));
  const report = () => post($, "report", { answer: { ...answer, id } });
  const isLost = ({ status }: Engine) => status === 0 || status >= 500;
  while (isLost(await report())) await $.clock.sleep(RETRY_MS);
  open.delete(id);
}

async function run($: Engine, op: string, text: string, args: string): Promise<object> {
  switch (op) {
    case "submit": {
      const { drop } = await $.prompt.submit({ text, asUser: true });
      return { refused: drop, code: "dropped" };
    }
    case "fill": {
      const box = await $.prompt.fill({ text, mode: args || "insert" });
      const refused = `its prompt takes no text (${box.refusal ?? "a hook"})`;
      return box.isFilled ? { value: box } : { refused, code: box.refusal };
    }
    case "draft":
      return { value: await $.prompt.read() };
    case "run": {
      // A command like /context prints nothing, and only leaves the model a note.
      const { text: printed, context } = await $.command.run({ command: text, args });
      return { value: { text: printed ?? context?.join("\n\n") } };
    }
    case "commands":
      return { value: await $.command.list() };
    case "stop":
      if (turn !== undefined) await $.turn.abort({ turnId: turn });
      return turn === undefined ? { refused: "no turn runs" } : {};
    case "ask": {
      const { isAnswered, text: answer, reason } = await $.model.fork({ prompt: text });
      return isAnswered ? { value: { text: answer } } : { refused: `no answer (${reason})` };
    }
    case "follow":
      isFollowed = args !== "";
      unsent = [];
      if (isFollowed && written !== "") send($, written, false);
      return {};
  }
  return { refused: `this mod has no operation "${op}"` };
}

function collect($: Engine, text: string, done: boolean): void {
  written += text;
  if (isFollowed && written !== "") send($, text, done);
  if (done) written = "";
}

function send($: Engine, text: string, done: boolean): void {
  const last = unsent.at(-1);
  if (!last || last.done) unsent.push({ text, done });
  else Object.assign(last, { text: last.text + text, done });
  if (!isSending) void sendAnswer($);
}

async function sendAnswer($: Engine): Promise<void> {
  isSending = true;
  for (let piece = unsent.shift(); piece; piece = unsent.shift()) {
    await post($, "report", { written: piece });
    await $.clock.sleep(MERGE_MS);
  }
  isSending = false;
}

type Hook = ($: Engine, event: Engine, next: Engine) => unknown;

export const register = (on: (event: string, hook: Hook) => void): void => {
  on("session.start", async ($, event, next) => {
    if (event.isInteractive && (await $.env.get("CLAUDE_CODE_SSE_PORT"))) void serve($);
    return next(event);
  });
  on("session.measure", async ($, event, next) => {
    const { tokens, window, percent } = event.context;
    usage = { tokens, window, percent, cost: event.cost?.usd };
    void post($, "report", { usage });
    return next(event);
  });
  on("turn.start", async (_, event, next) => {
    if (event.agentId === undefined) turn = event.turnId;
    return next(event);
  });
  on("turn.complete", async (_, event, next) => {
    if (event.turnId === turn) turn = undefined;
    return next(event);
  });
  on("turn.step", async function* ($, event, next) {
    const response = next(event);
    const isMain = event.agentId === undefined;
    void announce($, 0);
    try {
      for await (const chunk of response) {
        if (isMain && chunk.kind === "text") collect($, chunk.text, false);
        yield chunk;
      }
      return await response.result;
    } finally {
      // Also if the user stops the turn.
      if (isMain) collect($, "", true);
    }
  });
  on("session.end", async ($, event, next) => {
    if (event.reason === "clear" || event.reason === "resume") void announce($, RENEWED_MS);
    return next(event);
  });
};
