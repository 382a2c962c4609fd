import * as v from "valibot";
import { visibleLine } from "../../lib/visible";

/** What the CLI offers beside a plain yes: `update` goes back to it as it came. */
export interface Suggestion {
  label: string;
  update: unknown;
}

const Update = v.variant("type", [
  v.object({
    type: v.literal("addRules"),
    behavior: v.literal("allow"),
    rules: v.array(v.object({ toolName: v.string(), ruleContent: v.optional(v.string()) })),
    destination: v.string(),
  }),
  v.object({
    type: v.literal("addDirectories"),
    directories: v.array(v.string()),
    destination: v.string(),
  }),
  v.object({ type: v.literal("setMode"), mode: v.string(), destination: v.string() }),
]);
type Update = v.InferOutput<typeof Update>;

const MOST_LABEL = 300;

/** The words for where the CLI (2.1.330) keeps it. */
const PLACES: Record<string, string> = {
  session: "in this session",
  localSettings: "in this project, for you",
  projectSettings: "in this project, for all who work on it",
  userSettings: "in all projects",
};

/** Those of a kind that we know: what cannot be described whole is not offered. */
export function suggestions(offered: readonly unknown[] = []): Suggestion[] {
  return offered.flatMap((update) => {
    const { success, output } = v.safeParse(Update, update);
    const text = success ? visibleLine(label(output)) : "";
    return text !== "" && text.length <= MOST_LABEL ? [{ label: text, update }] : [];
  });
}

function label(update: Update): string {
  const place = PLACES[update.destination] ?? `in ${update.destination}`;
  switch (update.type) {
    case "addRules": {
      const rules = update.rules.map(({ toolName, ruleContent }) =>
        ruleContent === undefined ? toolName : `${toolName}(${ruleContent})`,
      );
      return `Allow, and do not ask again ${place}: ${rules.join(", ")}`;
    }
    case "addDirectories":
      return `Allow, and give access ${place}: ${update.directories.join(", ")}`;
    case "setMode":
      return `Allow, and set the permission mode ${place}: ${update.mode}`;
  }
}
