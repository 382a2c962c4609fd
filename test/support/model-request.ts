/** The parts of a Messages API request that tests look at. */
export interface ModelRequest {
  model: string;
  stream?: boolean;
  system?: unknown;
  messages: Message[];
  tools?: { name: string }[];
}

export interface Message {
  role: "user" | "assistant" | "system";
  content: string | Content[];
}

export interface Content {
  type: string;
  text?: string;
  tool_use_id?: string;
  content?: string | Content[];
  is_error?: boolean;
}

/**
 * Is this a step of the conversation itself? The CLI also asks for titles, topics and quota: those requests offer no
 * tools that change files (measured with Claude Code 2.1.330), and neither do ours.
 */
export function isConversation(request: ModelRequest): boolean {
  const isChanging = request.tools?.some(({ name }) => name === "Edit" || name === "Write");
  return isChanging || newsText(request).includes("Write the message of the git commit");
}

/** New input for the model since its last answer: tool results, prompts, reminders. */
export function news(request: ModelRequest): Message[] {
  const last = request.messages.findLastIndex((message) => message.role === "assistant");
  return request.messages.slice(last + 1);
}

/** All new text, including tool results, one piece per line. */
export function newsText(request: ModelRequest): string {
  return news(request)
    .flatMap((message) => texts(message.content))
    .join("\n");
}

/** The texts of the new tool results, in order. */
export function toolResults(request: ModelRequest): string[] {
  return news(request)
    .flatMap((message) => (typeof message.content === "string" ? [] : message.content))
    .filter((content) => content.type === "tool_result")
    .map((content) => texts(content.content ?? "").join("\n"));
}

function texts(content: string | Content[]): string[] {
  if (typeof content === "string") return [content];
  return content.flatMap((part) => [part.text ?? [], texts(part.content ?? [])].flat());
}
