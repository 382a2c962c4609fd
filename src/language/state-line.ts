import type { ServerState } from "./answer";

/** The end of every answer: whether all of it is there, and if not, why. */
export function stateLine(
  states: readonly ServerState[],
  settled: boolean,
  doubts: readonly string[] = [],
): string {
  const busy = states.filter(({ state }) => state !== "idle").map(describe);
  const names = states.map(({ name }) => name).join(", ");
  if (!settled && busy.length === 0) busy.push(`${names} may still be reading the project`);
  const reasons = [...busy, ...doubts];
  if (reasons.length > 0) return `may be incomplete: ${reasons.join("; ")}`;
  return `complete: ${names} idle`;
}

export function isReady(states: readonly ServerState[], settled: boolean): boolean {
  return settled && states.every(({ state }) => state === "idle");
}

/** Nothing was found, and a server was not ready: that is no answer. */
export function notReady(states: readonly ServerState[], settled: boolean): string {
  const reason = stateLine(states, settled).replace("may be incomplete: ", "");
  const isLasting = settled && states.every(({ state }) => LASTING.has(state));
  const next = isLasting ? "Use Grep." : "Ask again in 10 s, or use Grep.";
  return `Not ready: ${reason}. Nothing was found yet, which says nothing. ${next}`;
}

/** To ask again later brings nothing else. */
const LASTING = new Set<ServerState["state"]>(["idle", "failing", "unindexed", "ended"]);

const WORDS: Record<ServerState["state"], string> = {
  idle: "idle",
  starting: "is starting",
  indexing: "indexes",
  failing: "reports an error",
  unindexed: "has indexed only open files (no compile_commands.json)",
  ended: "has ended",
  hangs: "does not answer",
};

function describe({ name, state, title }: ServerState): string {
  const error = state === "failing" && title ? `: ${title.split("\n", 1)[0]?.slice(0, 200)}` : "";
  return `${name} ${WORDS[state]}${error}`;
}
