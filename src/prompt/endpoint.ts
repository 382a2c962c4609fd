import { join } from "node:path";
import * as v from "valibot";
import { gitTop } from "../claude/project";
import { UserError } from "../lib/errors";
import { realPath } from "../lib/paths";
import { command, Git, type GitResult, type GitWork } from "../review/git/run";
import { Privacy } from "../review/record/privacy";
import { commandsFor } from "./commands";
import { MentionedFiles } from "./files";

const Typed = v.object({ folder: v.string(), word: v.string() });
const Folder = v.object({ folder: v.string() });

const DIFF = { ms: 5_000, mostBytes: 1024 * 1024 };

/** Answers a Neovim's requests `prompt/…`: what can be named in a prompt, and what is put into it. */
export class PromptEndpoint {
  readonly #files = new MentionedFiles();

  answer(method: string, params: unknown): unknown {
    switch (method) {
      case "files": {
        const { folder, word } = v.parse(Typed, params);
        return this.#files.find(folder, word.slice(1));
      }
      case "commands": {
        const { folder, word } = v.parse(Typed, params);
        return commandsFor(folder, word);
      }
      case "diff":
        return diffOf(v.parse(Folder, params).folder);
      default:
        throw new Error("there is no such method");
    }
  }
}

/** What has changed in the work tree since the last commit, private files aside. Throws a UserError. */
async function diffOf(folder: string): Promise<string> {
  const root = gitTop(realPath(folder));
  const git = root && Git.in(root);
  if (!git) throw new UserError("this folder is in no git repository");
  return git.run(diff(root, new Privacy()));
}

function* diff(root: string, privacy: Privacy): GitWork<string> {
  const list = yield* command(["diff", "--name-only", "--no-renames", "-z", "HEAD"], DIFF);
  const names = textOf(list).split("\0").filter(Boolean);
  const hidden = new Set(names.filter((name) => privacy.isPrivate(join(root, name))));
  if (names.length === hidden.size) return "";
  // A name is a folder for git, too: of `conf`, now a folder, it would show `conf/.env`.
  const magic = (name: string) => `:(literal${hidden.has(name) ? ",exclude" : ""})${name}`;
  const options = ["--no-ext-diff", "--no-textconv", "--no-renames", "--submodule=short"];
  return textOf(yield* command(["diff", ...options, "HEAD", "--", ...names.map(magic)], DIFF));
}

function textOf({ code, stdout }: GitResult): string {
  if (code === 0) return stdout.toString();
  const why = code === null ? "too much has, or git takes too long" : "is there a commit?";
  throw new UserError(`git cannot say what has changed since the last commit: ${why}`);
}
