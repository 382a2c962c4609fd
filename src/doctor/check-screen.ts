import type { Facts } from "./facts";
import { type Finding, note } from "./finding";

/**
 * Where a user's scrollback is: a CLI that draws on the whole screen, as a new install of 2.1.330 does, leaves
 * the terminal none.
 */
export function checkScreen({ settings, env }: Facts): Finding | undefined {
  const chosen = settings.find(({ content }) => content.tui !== undefined)?.content.tui;
  const isOff = env.CLAUDE_CODE_NO_FLICKER === "0" || env.CLAUDE_CODE_DISABLE_ALTERNATE_SCREEN;
  if (isOff || chosen === "default") return undefined;
  return note(
    "where Claude draws on the whole screen, its terminal has no scrollback: :Claude transcript shows " +
      'the conversation; with terminal.env.CLAUDE_CODE_NO_FLICKER = "0" the lines stay',
  );
}
