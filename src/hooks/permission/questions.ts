import * as v from "valibot";
import { visible, visibleLine } from "../../lib/visible";
import type { HookInput } from "../input";

const MOST_TITLE = 200;
/** A longer option is nothing to choose in a list: the user reads it in Claude's terminal. */
const MOST_OPTION = 5_000;

const Option = v.pipe(v.string(), v.maxLength(MOST_OPTION));
const Questions = v.object({
  questions: v.pipe(
    v.array(
      v.object({
        question: v.string(),
        multiSelect: v.optional(v.boolean()),
        options: v.array(v.object({ label: Option, description: v.optional(Option) })),
      }),
    ),
    v.minLength(1),
  ),
});

/** One of Claude's questions, and how the user sees it. */
export interface Question {
  question: string;
  /** The question in one line. */
  title: string;
  labels: string[];
  shown: {
    text: string[];
    multiple: boolean;
    options: { label: string; description: string }[];
  };
}

/** The user's: numbers of options, from 1 on, or a text of their own. */
export interface Reply {
  options?: number[];
  text?: string;
}

/** The questions of AskUserQuestion, none if they are not as expected; undefined for any other tool. */
export function questions({ tool_name, tool_input }: HookInput): Question[] | undefined {
  if (tool_name !== "AskUserQuestion") return undefined;
  const { success, output } = v.safeParse(Questions, tool_input);
  if (!success) return [];
  return output.questions.map(({ question, multiSelect = false, options }) => ({
    question,
    title: visibleLine(question, MOST_TITLE),
    labels: options.map(({ label }) => label),
    shown: {
      text: visible(question).split("\n"),
      multiple: multiSelect,
      options: options.map(({ label, description = "" }) => ({
        label: visibleLine(label),
        description: visibleLine(description),
      })),
    },
  }));
}

/** As the CLI (2.1.330) wants them in the tool's input: by question, several with commas. */
export function repliesByQuestion(asked: Question[], replies: Reply[]): Record<string, string> {
  return Object.fromEntries(
    asked.map(({ question, labels }, index) => {
      const { options = [], text } = replies[index] ?? {};
      const chosen = options.flatMap((number) => labels[number - 1] ?? []);
      return [question, [...chosen, ...(text ? [text] : [])].join(", ")];
    }),
  );
}
