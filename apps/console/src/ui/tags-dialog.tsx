import { type ReactNode, useState } from "react";
import { common } from "../text/en.ts";
import { FormDialog } from "./confirm.tsx";
import { Check } from "./field.tsx";

interface TagOf {
  readonly id: number;
  readonly name: string;
  readonly description?: string | undefined;
}

interface TagsDialogProps {
  readonly title: string;
  /** All that there are; undefined as long as they are being read. */
  readonly tags: readonly TagOf[] | undefined;
  /** What is shown until then. */
  readonly reading?: ReactNode;
  /** What is said where there are none. */
  readonly none: string;
  /** The ids of those that it has. */
  readonly has: readonly number[];
  /** Gives it a tag, or takes one away. */
  readonly put: (tagId: number, on: boolean) => Promise<unknown>;
  /** Reads anew what may have changed. */
  readonly after: () => Promise<unknown>;
  readonly close: () => void;
}

/** Gives something tags, and takes them away, each by itself: what another person does to other tags meanwhile stays. */
export function TagsDialog({ title, tags, reading, none, has, put, after, close }: TagsDialogProps) {
  const [edits, setEdits] = useState<Readonly<Record<number, boolean>>>({});
  const changed = Object.entries(edits).filter(([id, on]) => on !== has.includes(Number(id)));
  const run = async () => {
    try {
      for (const [id, on] of changed) await put(Number(id), on);
    } finally {
      await after();
    }
  };
  const why = changed.length === 0 ? common.nothingChanged : undefined;
  return (
    <FormDialog open close={close} title={title} button={common.save} why={why} run={run}>
      {tags === undefined && reading}
      {tags?.length === 0 && <p className="muted">{none}</p>}
      {tags?.map(({ id, name, description }) => (
        <Check
          key={id}
          label={name}
          {...(description && { hint: description })}
          checked={edits[id] ?? has.includes(id)}
          onChange={(on) => setEdits((old) => ({ ...old, [id]: on }))}
        />
      ))}
    </FormDialog>
  );
}
