import type { TargetView } from "@harrier/contracts";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ask, change, r } from "../api/client.ts";
import { invalidate } from "../api/query-client.ts";
import { TypeChoice } from "../devices/bulk.tsx";
import { common, device as t } from "../text/en.ts";
import { FormDialog } from "../ui/confirm.tsx";
import { Failure, Skeleton } from "../ui/states.tsx";
import { TagsDialog } from "../ui/tags-dialog.tsx";

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

interface DeviceTagsProps {
  readonly targetId: string;
  /** The tags that it has. */
  readonly has: readonly number[];
  readonly close: () => void;
}

/** Gives the device tags, and takes them away. */
export function DeviceTags({ targetId: controllerId, has, close }: DeviceTagsProps) {
  const { data, error, refetch } = useQuery(ask(r.targetTags.list, { query: { limit: 500, sort: "name:ASC" } }));
  return (
    <TagsDialog
      title={t.tagsTitle}
      tags={data?.content}
      reading={error === null ? <Skeleton lines={3} /> : <Failure error={error} retry={() => void refetch()} />}
      none={t.tagsNone}
      has={has}
      put={(targetTagId, on) => change(on ? r.targetTags.assignOne : r.targetTags.unassignOne, { params: { targetTagId, controllerId } })}
      after={() => invalidate("targets")}
      close={close}
    />
  );
}
