import type { TargetView } from "@harrier/contracts";
import { askSeen, change, r } from "../api/client.ts";
import { invalidate } from "../api/query-client.ts";
import { device as t } from "../text/en.ts";
import { FormDialog } from "../ui/confirm.tsx";
import { Reading, type Seen, useEdits } from "../ui/edited.tsx";
import { Field } from "../ui/field.tsx";
import { limits } from "../ui/limits.ts";

/** Changes what people wrote about a device. */
export function EditDevice({ targetId, close }: { targetId: string; close: () => void }) {
  return (
    <Reading asked={askSeen(r.targets.get, { params: { targetId } })} title={t.editTitle} close={close}>
      {(seen) => <Known seen={seen} close={close} />}
    </Reading>
  );
}

function Known({ seen: { body: target, tag, again }, close }: { seen: Seen<TargetView>; close: () => void }) {
  const { name, description = "", group = "" } = target;
  const { value, edit, changed, nothing } = useEdits({ name, description, group });
  const run = async () => {
    await change(r.targets.update, { params: { targetId: target.controllerId }, body: changed, ifMatch: tag });
    await invalidate("targets");
  };
  return (
    <FormDialog open close={close} title={t.editTitle} button={t.save} why={nothing} run={run} again={again}>
      <Field label={t.name} value={value.name} onChange={(next) => edit({ name: next })} maxLength={limits.name} required />
      <Field
        label={t.description}
        value={value.description}
        onChange={(next) => edit({ description: next })}
        maxLength={limits.description}
        lines
      />
      <Field label={t.group} value={value.group} onChange={(next) => edit({ group: next })} maxLength={limits.group} />
    </FormDialog>
  );
}
