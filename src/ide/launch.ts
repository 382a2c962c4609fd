import * as v from "valibot";
import { Failure } from "../lib/errors";
import { parseJson } from "../lib/json";
import { LOG_LEVELS } from "../lib/log";

const port = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(65_535));

const PortRange = v.object({ first: port, last: port });

const Launch = v.object({
  /** Must equal our own; checked by the caller, who can say both. */
  contract: v.number(),
  version: v.string(),
  /** Our own path as the plugin found us, which lasts longer than the one behind symlinks. */
  executable: v.optional(v.string(), process.execPath),
  /** UUID v4. Comes by stdin because argv can be read by every user of the machine. */
  token: v.pipe(v.string(), v.uuid()),
  /** Replaces `token` where another program has `port`: the CLI sends it the one of before. */
  nextToken: v.optional(v.pipe(v.string(), v.uuid())),
  /** Neovim's, which the lock file names. */
  pid: v.pipe(v.number(), v.integer(), v.minValue(1)),
  /** The port of an executable that died: the CLI only ever retries the old one. */
  port: v.nullish(port),
  portRange: v.optional(PortRange),
  workspaceFolders: v.array(v.string()),
  logFile: v.nullish(v.string()),
  logLevel: v.optional(v.picklist(LOG_LEVELS), "info"),
});

/** The one line of JSON with which the plugin starts the executable. */
export type Launch = v.InferOutput<typeof Launch>;

/** Throws Failure. The message says what is wrong, and quotes nothing: the line holds a token. */
export function readLaunch(line: string): Launch {
  const value = parseJson(line);
  if (value === undefined) throw new Failure("the launch line on stdin is not JSON", "usage");
  const result = v.safeParse(Launch, value);
  if (result.success) return result.output;
  const fields = result.issues.map((issue) => v.getDotPath(issue) ?? "the whole line");
  const text = `the launch line on stdin is wrong in: ${[...new Set(fields)].join(", ")}`;
  throw new Failure(text, "usage");
}
