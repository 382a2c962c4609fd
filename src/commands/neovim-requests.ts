import * as v from "valibot";
import type { EditorPort } from "../editor/methods";
import type { IdeServer } from "../ide/server";
import { Failure, message } from "../lib/errors";
import { own } from "../lib/json";
import type { Log } from "../lib/log";
import type { Answer, Answers } from "../lib/requests";
import { visible } from "../lib/visible";
import type { ModEndpoint } from "../mod/endpoint";
import type { NeovimEditor } from "../neovim/editor";
import { PromptEndpoint } from "../prompt/endpoint";
import { RemoteEndpoint } from "../remote/endpoint";
import { ReviewEndpoint } from "../review/endpoint";
import { SessionsEndpoint } from "../sessions/endpoint";
import { TranscriptEndpoint } from "../transcript/endpoint";
import { worktreeRequests } from "../worktrees/endpoint";

/** Answers the requests of Neovim itself, rather than of a client. */
export function neovimRequests(
  editor: NeovimEditor,
  server: IdeServer,
  mod: ModEndpoint,
  log: Log,
  neovimPid: number,
) {
  const remote = new RemoteEndpoint(editor, server.connect, mod, log);
  const review = new ReviewEndpoint(editor, log);
  const transcript = new TranscriptEndpoint(
    editor,
    log,
    (name, id) => remote.conversation(name, id),
    (folder, call) => review.ended(folder, call),
  );
  const prompt = new PromptEndpoint();
  const sessions = new SessionsEndpoint(editor, mod, neovimPid, log);
  const worktree = { requests: worktreeRequests };
  const areas = { review, transcript, prompt, worktree, remote, sessions, mod };
  answerRequests(editor, areas, log);
  return {
    areas,
    /** Resolves once Neovim knows the sessions. They may run already before it starts one. */
    reportSessions: () => sessions.start(),
    /** Called once Neovim is attached: we report to it from now on. */
    start: () => review.start(),
    clientsChanged() {
      review.clientsChanged();
      sessions.look();
    },
    async end() {
      sessions.end();
      transcript.end();
      remote.end();
      mod.end();
      await review.end();
    },
  };
}

/** Answers each request as soon as its answer is ready, whatever their order. */
export function answerRequests(
  editor: Pick<EditorPort, "on" | "call">,
  areas: Readonly<Record<string, Answers>>,
  log: Log,
): void {
  editor.on("request", async ({ id, method, params }) => {
    const [area = "", name = ""] = method.split("/");
    const answers = own(areas, area);
    const answer = await answerOf(answers && own(answers.requests, name), method, params, log);
    await editor
      .call("request_answer", { id, ...answer })
      .catch((error) => log.warn(`An answer to ${method} failed: ${message(error)}`));
    answers?.answered?.(name);
  });
}

async function answerOf(answer: Answer | undefined, method: string, params: unknown, log: Log) {
  try {
    if (!answer) throw new Failure(`the executable has no request ${method}: update it`);
    const value = await answer(params);
    // A field that is undefined would be vim.NIL in Lua.
    return value === undefined ? {} : { value };
  } catch (error) {
    if (error instanceof Failure) {
      return { error: { code: error.code, message: visible(error.message) } };
    }
    log.error(`${method} failed: ${message(error)}`);
    const cause = v.isValiError(error) ? "the request is not in the contract" : message(error);
    const text = visible(`${method} failed: ${cause} (see :Claude log)`);
    return { error: { code: "defect", message: text } };
  }
}
