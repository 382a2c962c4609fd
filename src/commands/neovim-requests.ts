import type { MethodName } from "../editor/methods";
import type { AskNeovim } from "../edits/check";
import { UndoEndpoint } from "../edits/undo";
import type { IdeServer } from "../ide/server";
import type { Log } from "../lib/log";
import type { NeovimEditor } from "../neovim/editor";
import { answerRequests } from "../neovim/requests";
import { PromptEndpoint } from "../prompt/endpoint";
import { RemoteEndpoint } from "../remote/endpoint";
import { ReviewEndpoint } from "../review/endpoint";
import { TranscriptEndpoint } from "../transcript/endpoint";
import { WorktreeEndpoint } from "../worktrees/endpoint";

/** What Neovim asks for itself, without a client. Answers from now on. */
export function neovimRequests(editor: NeovimEditor, server: IdeServer, log: Log) {
  const { state } = editor;
  const call: AskNeovim = (method, params, ms) =>
    editor.call(method as MethodName, params as never, ms);
  const undo = new UndoEndpoint({ state, call }, log);
  const remote = new RemoteEndpoint(editor, server.connect, log);
  const review = new ReviewEndpoint(editor, log);
  const transcript = new TranscriptEndpoint(editor, log, remote);
  const prompt = new PromptEndpoint();
  const worktree = new WorktreeEndpoint();
  const endpoints = { review, transcript, prompt, edits: undo, worktree, remote };
  answerRequests(editor, endpoints, log);
  return {
    /** Neovim is attached: from now on it is reported to. */
    start() {
      review.start();
      undo.start();
    },
    clientsChanged: () => review.clientsChanged(),
    async end() {
      transcript.end();
      remote.end();
      await review.end();
    },
  };
}
