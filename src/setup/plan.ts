import { lstatSync } from "node:fs";
import { join } from "node:path";
import { withoutSection, withSection } from "../claude/claude-md";
import {
  ADD_ARGUMENTS,
  findClaude,
  installedServer,
  REMOVE_ARGUMENTS,
  runClaude,
  serverCommand,
} from "../claude/cli";
import { hookSettings } from "../claude/hooks";
import { SERVER_NAME } from "../claude/names";
import { withHooks, withoutHooks } from "../claude/settings-text";
import { writePrivateFile } from "../lib/private-file";
import { ensureStablePath } from "../lib/stable-path";
import { NOTE } from "../locate/candidates";
import { objection } from "../neovim/socket";
import { type ProjectRecord, readRecord, writeRecord } from "./record";
import { SettingsError } from "./settings-error";
import {
  changeFile,
  makeFolder,
  readText,
  removeFolders,
  removeQuietly,
  restoreFile,
  type Step,
} from "./step";

export interface InstallOptions {
  /** Also the section for CLAUDE.md. */
  claudeMd: boolean;
  /** The Claude CLI, if it is not the one on $PATH. */
  claude?: string | undefined;
}

/** What is to be done, and what a person should know of it beside. */
export interface Plan {
  steps: Step[];
  notes: string[];
}

const SETTINGS = join(".claude", "settings.local.json");
const NOTE_FOLDER = ".nvim-claude";
const IGNORE_ALL = "*\n";

/** Sets a project up for a Claude CLI that is started outside of Neovim. Throws SettingsError. */
export function planInstall(root: string, options: InstallOptions): Plan {
  const plan: Plan = { steps: [], notes: [] };
  addChange(
    plan,
    join(root, SETTINGS),
    "hooks for SessionStart, PostToolUse, Stop, SessionEnd",
    (text) => withHooks(text, hookSettings(), join(root, SETTINGS)),
  );
  if (options.claudeMd) {
    addChange(plan, join(root, "CLAUDE.md"), "the section LSP Diagnostics", withSection);
  }
  addNoteFolder(plan, root);
  addServer(plan, root, options.claude ?? findClaude());
  return plan;
}

/** Takes back what was set up, and nothing else. Throws SettingsError. */
export function planUninstall(root: string, options: Pick<InstallOptions, "claude">): Plan {
  const plan: Plan = { steps: [], notes: [] };
  const record = readRecord(root);
  const add = (step: Step | undefined) => step && plan.steps.push(step);
  const settings = join(root, SETTINGS);
  add(restoreFile(settings, record, (text) => withoutHooks(text, settings), "without our hooks"));
  add(restoreFile(join(root, "CLAUDE.md"), record, withoutSection, "without our section"));
  add(removeNote(root, record));
  removeServer(plan, root, options.claude ?? findClaude());
  return plan;
}

/** Carries a plan out; `active` is whether the project is set up afterwards. */
export async function carryOut(plan: Plan, root: string, active: boolean): Promise<void> {
  const record: ProjectRecord = {
    ...(readRecord(root) ?? { files: {}, folders: [], server: false }),
    root,
    active,
  };
  try {
    if (active) ensureStablePath();
    for (const step of plan.steps) await step.run(record);
    if (!active) removeFolders(record);
  } finally {
    writeRecord(record);
  }
}

function addChange(
  plan: Plan,
  path: string,
  what: string,
  change: (text: string | undefined) => string,
): void {
  const before = readText(path);
  const after = change(before);
  if (after !== before) plan.steps.push(changeFile(path, after, what));
}

/** A folder that git ignores by itself, in which each Neovim notes its address. */
function addNoteFolder(plan: Plan, root: string): void {
  const folder = join(root, NOTE_FOLDER);
  const stats = lstatSync(folder, { throwIfNoEntry: false });
  if (stats && !stats.isDirectory()) {
    throw new SettingsError(`${folder} is no folder (a symlink?): move it away first`);
  }
  const ignore = join(folder, ".gitignore");
  const address = process.env.NVIM;
  const noted = address !== undefined && objection(address) === undefined;
  const current = readText(join(root, NOTE))?.trim();
  const ignored = readText(ignore) !== undefined;
  if (ignored && (!noted || current === address)) return;
  plan.steps.push({
    what: ignored
      ? `write ${join(root, NOTE)}: this Neovim's address`
      : `create ${folder}: this Neovim's address; git ignores the folder`,
    async run(record) {
      makeFolder(folder, record);
      if (!ignored) {
        writePrivateFile(ignore, IGNORE_ALL);
        record.files[ignore] = { before: null, after: IGNORE_ALL };
      }
      if (noted) writePrivateFile(join(root, NOTE), `${address}\n`);
    },
  });
}

/** The folder goes with what we put there, unless it was there before or holds more by now. */
function removeNote(root: string, record: ProjectRecord | undefined): Step | undefined {
  const folder = join(root, NOTE_FOLDER);
  if (!lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) return undefined;
  const note = join(root, NOTE);
  const ignore = join(folder, ".gitignore");
  // Without a record it is only ours by what it says.
  const isOurs = (!record || ignore in record.files) && readText(ignore) === IGNORE_ALL;
  if (!isOurs && readText(note) === undefined) return undefined;
  return {
    what: `remove what is ours from ${folder}`,
    async run(current) {
      removeQuietly(note);
      if (isOurs) removeQuietly(ignore);
      if (!record) current.folders.push(folder);
      delete current.files[ignore];
    },
  };
}

function addServer(plan: Plan, root: string, claude: string | undefined): void {
  const command = ["claude", ...ADD_ARGUMENTS, ...serverCommand()].join(" ");
  const there = installedServer(root);
  if (there === "ours") return;
  if (there === "foreign") {
    plan.notes.push(
      `Claude Code has a server ${SERVER_NAME} with another command here, which stays. ` +
        `To use ours: claude ${REMOVE_ARGUMENTS.join(" ")}, then this command again.`,
    );
  } else if (!claude) {
    plan.notes.push(`The Claude CLI is not on $PATH. Once it is, run in ${root}: ${command}`);
  } else {
    plan.steps.push({
      what: `run ${command}`,
      async run(record) {
        await claudeMust(claude, [...ADD_ARGUMENTS, ...serverCommand()], root);
        record.server = true;
      },
    });
  }
}

function removeServer(plan: Plan, root: string, claude: string | undefined): void {
  if (installedServer(root) !== "ours") return;
  const command = `claude ${REMOVE_ARGUMENTS.join(" ")}`;
  if (!claude) {
    plan.notes.push(`The Claude CLI is not on $PATH. Once it is, run in ${root}: ${command}`);
    return;
  }
  plan.steps.push({
    what: `run ${command}`,
    async run(record) {
      await claudeMust(claude, REMOVE_ARGUMENTS, root);
      record.server = false;
    },
  });
}

async function claudeMust(claude: string, args: readonly string[], root: string): Promise<void> {
  const complaint = await runClaude(claude, args, root);
  if (complaint) throw new SettingsError(`${claude} ${args.join(" ")} failed: ${complaint}`);
}
