import { message, UserError } from "../lib/errors";
import { type JsonObject, parseJson } from "../lib/json";
import type { Log } from "../lib/log";
import { realPath } from "../lib/paths";
import { ReviewEndpoint } from "../review/endpoint";
import type { Channel } from "./channels";
import { withFields } from "./review-answers";

/**
 * Answers the link's requests about the review of folders that are on this machine alone, and reports to it, for as
 * long as the channel is open. `files`: paths of those that Neovim may have loaded.
 */
export function serveReview(
  channel: Channel,
  roots: readonly string[],
  files: ReadonlyMap<string, unknown>,
  log: Log,
): void {
  const send = (said: JsonObject) => channel.send(JSON.stringify(withFields(said, {})));
  const endpoint = new ReviewEndpoint(
    {
      onDelta: { on: () => {} },
      state: { folders: roots.map((root) => realPath(root)) },
      loadedFiles: () => [...files.keys()].map((path) => realPath(path)),
      call: async (_method, summary) => send({ summary }),
    },
    log,
  );
  channel.onMessage = async (text) => {
    const { id, method, params } = (parseJson(text) ?? {}) as JsonObject;
    try {
      send({ id, value: await endpoint.answer(String(method), params) });
    } catch (error) {
      if (!(error instanceof UserError)) log.error(`review/${method} failed: ${message(error)}`);
      send({ id, problem: message(error) });
    }
    endpoint.answered(String(method));
  };
  channel.onClose = () => void endpoint.end();
  endpoint.start();
}
