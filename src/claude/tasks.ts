import * as v from "valibot";
import { readJson } from "../lib/json";
import { namesIn } from "../lib/paths";
import { join } from "../lib/platform";
import { visibleLine } from "../lib/visible";
import { claudeFolder } from "./config-dir";

const MAX_TASKS = 200;
const MAX_BYTES = 64 * 1024;
const MAX_SUBJECT = 80;

const Task = v.object({
  subject: v.string(),
  /** The same as what Claude does: "Writing the parser". */
  activeForm: v.optional(v.string()),
  status: v.picklist(["pending", "in_progress", "completed"]),
});

/** There the CLI keeps a session's task list, `N.json` for each task (measured with 2.1.332; not documented). */
export function tasksFolder(session: string): string {
  return join(claudeFolder(), "tasks", session);
}

/** Counts the tasks, and says in a line which one is in progress. Undefined: the session has no task list. */
export function taskList(session: string) {
  const folder = tasksFolder(session);
  const names = namesIn(folder).filter((name) => /^\d+\.json$/.test(name));
  const tasks = names.slice(0, MAX_TASKS).flatMap((name) => {
    const { success, output } = v.safeParse(Task, readJson(join(folder, name), MAX_BYTES));
    return success ? [output] : [];
  });
  if (tasks.length === 0) return undefined;
  const done = tasks.filter(({ status }) => status === "completed").length;
  const present = tasks.find(({ status }) => status === "in_progress");
  const doing = present && subject(present.activeForm || present.subject);
  return { done, all: tasks.length, doing };
}

/** The text that Neovim shows. */
export function subject(text: string): string {
  return visibleLine(text, MAX_SUBJECT);
}
