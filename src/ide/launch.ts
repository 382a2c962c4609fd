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

/** The ports of spec 01: a random one of 10000 to 65535, both included. */
const PORT_RANGE = { first: 10_000, last: 65_535 } as const;

const ATTEMPTS = 50;

/** An executable that has just been stopped may still hold the port that we take over. */
const HANDOVER_MS = 1_000;
const HANDOVER_STEP_MS = 20;

type Wanted = Partial<Launch> & Pick<Launch, "token">;

/**
 * Opens the port that the launch line asks for, and names the token that clients must show. Tries random
 * ports until one is free, so that no port can be taken between a probe and its use; a wanted port comes
 * first, for a while. `listen` opens a port, or throws. Rejects with the last error when no attempt
 * succeeded, or at once when the error is not that the port is taken.
 */
export async function openServerPort<L extends { readonly port: number }>(
  wanted: Wanted,
  listen: (port: number) => L,
): Promise<{ listener: L; token: string }> {
  let taken: unknown;
  for (const port of portsToTry(wanted)) {
    try {
      return { listener: listen(port), token: tokenFor(wanted, port) };
    } catch (error) {
      const code = (error as { code?: unknown } | undefined)?.code;
      if (code !== "EADDRINUSE" && code !== "EACCES") throw error;
      taken = error;
    }
    if (port === wanted.port) await Bun.sleep(HANDOVER_STEP_MS);
  }
  throw taken;
}

/** To another program that has the port of before by now, clients send the token of before. */
function tokenFor({ port: wanted, token, nextToken }: Wanted, port: number): string {
  return wanted && port !== wanted ? (nextToken ?? crypto.randomUUID()) : token;
}

function* portsToTry({ port, portRange = PORT_RANGE }: Wanted): Generator<number> {
  const handedOver = performance.now() + HANDOVER_MS;
  while (port != null && performance.now() < handedOver) yield port;
  const { first, last } = portRange;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++)
    yield first + Math.floor(Math.random() * (last - first + 1));
}
