/** Carries texts to one peer and back, one per message and in order (the MCP SDK's Transport). */
export interface Transport {
  send(text: string): void;
  /** Set by the receiver of the messages, before the first one arrives. */
  onMessage: (text: string) => void;
  /** The peer is gone. Set by the receiver; called once. */
  onClose: () => void;
}
