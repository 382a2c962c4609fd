import { isObject } from "../lib/json";
import { isClaudeCode } from "../mcp/client";
import type { NotificationRule, RequestRule } from "./border";

/* What passes to each of our servers. */

export const initialize: RequestRule = {
  params({ protocolVersion, clientInfo }, crossing) {
    const info = isObject(clientInfo) ? clientInfo : {};
    crossing.isClaudeCode = isClaudeCode({ info: { name: String(info.name), version: "" } });
    return { protocolVersion, clientInfo };
  },
  result: (result) => result,
};

export const ping: RequestRule = { params: () => ({}), result: () => ({}) };

export const handshake: Readonly<Record<string, NotificationRule>> = {
  "notifications/initialized": () => ({}),
  "notifications/cancelled": ({ requestId }) => ({ requestId }),
};
