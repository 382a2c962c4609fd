import type { LanguageServers } from "../../language/servers";
import type { FollowedNeovim } from "../../locate/followed";
import type { LanguageEdits } from "../edits/language-edits";
import { codeAction } from "./code-action";
import { diagnosticsTools, type Whose } from "./diagnostics";
import { findReferences, findSymbol, outline } from "./language";
import { renameSymbol } from "./rename-symbol";

/** Questions to the language servers, edits by them, and the tools of spec 04. */
export function createNvimLspTools(
  neovim: FollowedNeovim,
  whose: Whose,
  servers: LanguageServers,
  edits: LanguageEdits,
) {
  return [
    findSymbol(servers),
    findReferences(servers),
    outline(servers),
    renameSymbol(edits, servers),
    codeAction(edits, servers),
    ...diagnosticsTools(neovim, whose),
  ];
}
