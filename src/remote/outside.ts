import * as v from "valibot";
import { parseJson } from "../lib/json";
import { isBelow, realPath } from "../lib/paths";
import { visible } from "../lib/visible";
import { lookAt, type Root } from "./hello";
import { isShareable } from "./path-map";

/** A CLI may print it. */
const text = v.optional(v.pipe(v.string(), v.transform(visible)));
/** What else an answer says is left out; one that is of another kind is none. */
const HookAnswer = v.object({
  continue: v.optional(v.literal(true)),
  decision: v.optional(v.literal("block")),
  ...{ reason: text, systemMessage: text },
  hookSpecificOutput: v.optional(
    v.object({
      hookEventName: v.picklist(["PreToolUse", "PostToolUse", "UserPromptSubmit"]),
      additionalContext: text,
      permissionDecision: v.optional(v.literal("deny")),
      permissionDecisionReason: text,
    }),
  ),
});

/**
 * A relay whose user has started it where Claude is, for a Neovim elsewhere, as in a container. That end may do
 * no more to a Claude here than a server of the IDE may: a conversation is not sent either.
 */
export class Outside {
  /** `onServing`: Claude can connect in these folders; or why not. */
  constructor(
    private readonly folder: string,
    readonly onServing: (folders: readonly string[], problem?: string) => void,
  ) {}

  /**
   * Those below the one in which it was started: of others the editor's side learns nothing, and no CLI of it. The
   * place is looked at to which a name leads: whether `a/../x` is there says whether `a` is.
   */
  roots(named: readonly string[]): readonly Root[] | string {
    const folder = realPath(this.folder);
    if (!isShareable(folder)) return `${folder} cannot be shared: start this in the project`;
    const found = named.flatMap((path) => {
      const place = realPath(path);
      const root = isBelow(place, folder) ? lookAt(place, folder) : undefined;
      // A symlink may have taken its place in this moment.
      return root?.real === place ? { ...root, path } : [];
    });
    if (found.length > 0) return found;
    return `Neovim shares no folder of ${folder}: name it in path_mappings there, or start this in the project`;
  }

  /** Words alone, and a refusal: no permission, and no other input of a tool. */
  hookAnswer(said: string): string | undefined {
    const { success, output } = v.safeParse(HookAnswer, parseJson(said));
    return success ? JSON.stringify(output) : undefined;
  }
}
