import { useLacking } from "../api/permissions.ts";
import { states, common as t } from "../text/en.ts";
import { Confirm } from "./confirm.tsx";

interface RemoveProps {
  readonly name: string;
  /** What goes with it, and what stays. */
  readonly text: string;
  readonly row: { readonly permission: readonly string[] };
  /** Why it cannot be deleted, whoever asks. */
  readonly why?: string | undefined;
  readonly run: () => Promise<unknown>;
  readonly small?: boolean;
  /** The name must be typed, because more than this one goes with it. */
  readonly typed?: boolean;
}

/** The button that deletes one thing after asking. */
export function Remove({ name, text, row, why, run, small = true, typed }: RemoveProps) {
  const lacking = useLacking(row);
  return (
    <Confirm
      small={small}
      look={small ? "ghost" : "danger"}
      why={(lacking && states.missing(lacking)) ?? why}
      trigger={t.delete}
      title={t.deleteTitle(name)}
      text={text}
      button={t.delete}
      typed={typed ? name : undefined}
      run={run}
    />
  );
}
