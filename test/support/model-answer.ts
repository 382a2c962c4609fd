import { randomUUID } from "node:crypto";

/** One block of the model's answer: text, after which it waits for `rest`, or the use of a tool. */
export type Block =
  | { text: string; rest?: Promise<unknown> }
  | { tool: string; input: Record<string, unknown> };

type ContentBlock =
  | { type: "text"; text: string }
  | { type: "tool_use"; id: string; name: string; input: Record<string, unknown> };

const USAGE = { input_tokens: 10, output_tokens: 10 };

/** The Messages API's answer in one piece, or as server-sent events when the request asks so. */
export function answer(blocks: Block[], model: string, stream: boolean): Response {
  const content = blocks.map(toContent);
  const message = {
    id: `msg_${randomUUID().replaceAll("-", "")}`,
    type: "message",
    role: "assistant",
    model,
    content,
    stop_reason: content.some((block) => block.type === "tool_use") ? "tool_use" : "end_turn",
    stop_sequence: null,
    usage: USAGE,
  };
  if (!stream) return Response.json(message);
  const start = { ...message, content: [], stop_reason: null };
  const events = [
    { type: "message_start", message: start },
    ...content.flatMap(blockEvents),
    {
      type: "message_delta",
      delta: { stop_reason: message.stop_reason, stop_sequence: null },
      usage: USAGE,
    },
    { type: "message_stop" },
  ];
  const rest = Promise.all(blocks.map((block) => "rest" in block && block.rest));
  return new Response(sent(events, rest), { headers: { "content-type": "text/event-stream" } });
}

async function* sent(events: { type: string }[], rest: Promise<unknown>) {
  for (const event of events) {
    yield `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
    if (event.type === "content_block_delta") await rest;
  }
}

function toContent(block: Block): ContentBlock {
  if ("text" in block) return { type: "text", text: block.text };
  const id = `toolu_${randomUUID().replaceAll("-", "").slice(0, 24)}`;
  return { type: "tool_use", id, name: block.tool, input: block.input };
}

/** A block starts empty, is filled by one delta, and stops. */
function blockEvents(block: ContentBlock, index: number): { type: string }[] {
  const [empty, delta] =
    block.type === "text"
      ? [
          { ...block, text: "" },
          { type: "text_delta", text: block.text },
        ]
      : [
          { ...block, input: {} },
          { type: "input_json_delta", partial_json: JSON.stringify(block.input) },
        ];
  return [
    { type: "content_block_start", index, content_block: empty } as { type: string },
    { type: "content_block_delta", index, delta } as { type: string },
    { type: "content_block_stop", index } as { type: string },
  ];
}
