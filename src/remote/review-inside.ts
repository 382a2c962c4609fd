import { message, UserError } from "../lib/errors";
import { isObject, type JsonObject, parseJson } from "../lib/json";
import type { Log } from "../lib/log";
import { realPath } from "../lib/paths";
import { ReviewEndpoint } from "../review/endpoint";
import type { Channel } from "./channels";

/** The fields of an answer that hold paths. */
const PATHS = ["path", "from", "paths"];

/**
 * Answers the link's requests about the review of folders that are on this machine alone, and reports to it, for as
 * long as the channel is open. `roots`: as the link names them. `files`: paths of those that Neovim may have loaded.
 */
export function serveReview(
  channel: Channel,
  roots: readonly string[],
  files: ReadonlyMap<string, unknown>,
  log: Log,
): void {
  const folders = roots.map((root) => ({ root, real: realPath(root) }));
  /** As the link names it, although a symlink may lead there. */
  const spelled = (path: string) => {
    const found = folders.find(({ real }) => path === real || path.startsWith(`${real}/`));
    return found ? found.root + path.slice(found.real.length) : path;
  };
  const crossed = (value: unknown, isPath = false): unknown => {
    if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
    if (typeof value === "string") return isPath ? spelled(value) : value;
    if (Array.isArray(value)) return value.map((one) => crossed(one, isPath));
    if (!isObject(value)) return value;
    const entries = Object.entries(value);
    return Object.fromEntries(
      entries.map(([key, one]) => [key, crossed(one, PATHS.includes(key))]),
    );
  };
  const send = (said: JsonObject) => channel.send(JSON.stringify(crossed(said)));
  const endpoint = new ReviewEndpoint(
    {
      onDelta: { on: () => {} },
      state: { folders: folders.map(({ real }) => real) },
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
