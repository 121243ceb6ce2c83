import type { TargetView } from "@harrier/contracts";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ask, change, r } from "../api/client.ts";
import { invalidate } from "../api/query-client.ts";
import { TypeChoice } from "../devices/bulk.tsx";
import { common, device as t } from "../text/en.ts";
import { FormDialog } from "../ui/confirm.tsx";
import { Check } from "../ui/field.tsx";
import { Failure, Skeleton } from "../ui/states.tsx";

interface TypeDialogProps {
  readonly target: TargetView;
  readonly close: () => void;
}

/** Gives the device another type, or none. */
export function TypeDialog({ target: { controllerId: targetId, targetType }, close }: TypeDialogProps) {
  const before = targetType === undefined ? "" : String(targetType);
  const [type, setType] = useState(before);
  const run = async () => {
    if (type === "") await change(r.targets.removeType, { params: { targetId } });
    else await change(r.targets.setType, { params: { targetId }, body: { id: Number(type) } });
    await invalidate("targets");
  };
  return (
    <FormDialog
      open
      close={close}
      title={t.typeTitle}
      text={t.typeText}
      button={t.save}
      why={type === before ? common.nothingChanged : undefined}
      run={run}
    >
      <TypeChoice value={type} onChange={setType} />
    </FormDialog>
  );
}

interface TagsDialogProps {
  readonly targetId: string;
  /** The tags that it has. */
  readonly has: readonly number[];
  readonly close: () => void;
}

/** Gives the device tags, and takes them away, each by itself: what another person does to other tags meanwhile stays. */
export function TagsDialog({ targetId: controllerId, has, close }: TagsDialogProps) {
  const [edits, setEdits] = useState<Readonly<Record<number, boolean>>>({});
  const { data, error, refetch } = useQuery(ask(r.targetTags.list, { query: { limit: 500, sort: "name:ASC" } }));
  const changed = Object.entries(edits).filter(([id, on]) => on !== has.includes(Number(id)));
  const run = async () => {
    try {
      for (const [targetTagId, on] of changed)
        await change(on ? r.targetTags.assignOne : r.targetTags.unassignOne, { params: { targetTagId, controllerId } });
    } finally {
      await invalidate("targets");
    }
  };
  return (
    <FormDialog
      open
      close={close}
      title={t.tagsTitle}
      button={t.save}
      why={changed.length === 0 ? common.nothingChanged : undefined}
      run={run}
    >
      {data === undefined && (error === null ? <Skeleton lines={3} /> : <Failure error={error} retry={() => void refetch()} />)}
      {data?.content.length === 0 && <p className="muted">{t.tagsNone}</p>}
      {data?.content.map(({ id, name, description }) => (
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
