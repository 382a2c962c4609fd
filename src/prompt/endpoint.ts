import { join } from "node:path";
import * as v from "valibot";
import { gitTop } from "../claude/project";
import { UserError } from "../lib/errors";
import { realPath } from "../lib/paths";
import { command, Git, type GitWork } from "../review/git/run";
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

/** What has changed in the work tree since the last commit, private files aside. */
async function diffOf(folder: string): Promise<string> {
  const root = gitTop(realPath(folder));
  const git = root && Git.in(root);
  if (!git) throw new UserError("this folder is in no git repository");
  return git.run(diff(root, new Privacy()));
}

function* diff(root: string, privacy: Privacy): GitWork<string> {
  const names = yield* command(["diff", "--name-only", "--no-renames", "-z", "HEAD"], DIFF);
  const shown = names.stdout
    .toString()
    .split("\0")
    .filter((name) => name !== "" && !privacy.isPrivate(join(root, name)));
  if (shown.length === 0) return "";
  const options = ["--no-ext-diff", "--no-textconv", "--no-renames"];
  const args = ["--literal-pathspecs", "diff", ...options, "HEAD", "--", ...shown];
  return (yield* command(args, DIFF)).stdout.toString();
}
