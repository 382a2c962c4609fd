/** One call of a tool, as a hook gets it; everything in `response` is still to be checked. */
export interface ToolCall {
  session: string;
  prompt?: string | undefined;
  /** The subagent's, if one called. */
  agent?: string | undefined;
  tool: string;
  use?: string | undefined;
  command?: string | undefined;
  /** The absolute path that an editing tool got. */
  path?: string | undefined;
  response?: unknown;
  durationMs?: number | undefined;
}

const MOST_CHARACTERS = 500;

/** What the journal says of whose call it was. */
export function callFields({ session, prompt, agent, tool, use, command }: ToolCall) {
  return { session, prompt, agent, tool, use, command: command && shortened(command) };
}

/** For the journal, which keeps no long texts. */
export function shortened(text: string): string {
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS - 1)}…` : text;
}
