import { join } from "node:path";
import type { IdeServer } from "../ide/server";
import type { Log } from "../lib/log";
import { namesIn, stateFolder } from "../lib/paths";
import type { NeovimEditor } from "../neovim/editor";
import { answerRequests } from "../neovim/requests";
import { PromptEndpoint } from "../prompt/endpoint";
import { RemoteEndpoint } from "../remote/endpoint";
import { ReviewEndpoint } from "../review/endpoint";
import { TranscriptEndpoint } from "../transcript/endpoint";
import { worktreeRequests } from "../worktrees/endpoint";

/** What Neovim asks for itself, without a client. Answers from now on. */
export function neovimRequests(editor: NeovimEditor, server: IdeServer, log: Log) {
  const remote = new RemoteEndpoint(editor, server.connect, log);
  const review = new ReviewEndpoint(editor, log);
  const transcript = new TranscriptEndpoint(
    editor,
    log,
    (name, id) => remote.conversation(name, id),
    (folder, call) => review.ended(folder, call),
  );
  const prompt = new PromptEndpoint();
  const areas = { review, transcript, prompt, worktree: { requests: worktreeRequests }, remote };
  answerRequests(editor, areas, log);
  return {
    areas,
    /** Neovim is attached: from now on it is reported to. */
    start() {
      review.start();
      skipOldOperations(log);
    },
    clientsChanged: () => review.clientsChanged(),
    async end() {
      transcript.end();
      remote.end();
      await review.end();
    },
  };
}

/** An earlier version recorded edits of many files there, and took interrupted ones back. */
function skipOldOperations(log: Log): void {
  const folder = join(stateFolder(), "edits");
  if (namesIn(folder).length > 0) log.info(`Edits of an earlier version are skipped: ${folder}`);
}
