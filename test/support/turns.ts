import type { Block } from "./model-answer";

/** One turn of the scripted model. The CLI edits only what it has read. */
export function read(file: string): Block[] {
  return [{ tool: "Read", input: { file_path: file } }];
}

export function edit(file: string, from: string, to: string): Block[] {
  return [{ tool: "Edit", input: { file_path: file, old_string: from, new_string: to } }];
}

export function say(text: string): Block[] {
  return [{ text }];
}

export function bash(command: string): Block[] {
  return [{ tool: "Bash", input: { command, description: "Run it" } }];
}

export function ask(
  ...asked: { question: string; labels: string[]; multiSelect?: boolean }[]
): Block[] {
  const questions = asked.map(({ question, labels, multiSelect = false }) => ({
    ...{ question, multiSelect, header: question.slice(0, 12) },
    options: labels.map((label) => ({ label, description: label })),
  }));
  return [{ tool: "AskUserQuestion", input: { questions } }];
}
