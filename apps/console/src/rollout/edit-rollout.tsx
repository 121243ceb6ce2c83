import type { RolloutView } from "@harrier/contracts";
import { askSeen, change, r } from "../api/client.ts";
import { invalidate } from "../api/query-client.ts";
import { common, rollout as t } from "../text/en.ts";
import { FormDialog } from "../ui/confirm.tsx";
import { Reading, type Seen, useEdits } from "../ui/edited.tsx";
import { Field } from "../ui/field.tsx";
import { limits } from "../ui/limits.ts";

/** Changes what people call a rollout and say about it; what it does is as it was created. */
export function EditRollout({ rolloutId, close }: { rolloutId: number; close: () => void }) {
  return (
    <Reading asked={askSeen(r.rollouts.get, { params: { rolloutId } })} title={t.editTitle} close={close}>
      {(seen) => <Known seen={seen} close={close} />}
    </Reading>
  );
}

function Known({ seen: { body, tag, again }, close }: { seen: Seen<RolloutView>; close: () => void }) {
  const { name, description = "" } = body;
  const { value, edit, changed, nothing } = useEdits({ name, description });
  const run = async () => {
    await change(r.rollouts.update, { params: { rolloutId: body.id }, body: changed, ifMatch: tag });
    await invalidate("rollouts");
  };
  return (
    <FormDialog open close={close} title={t.editTitle} button={common.save} why={nothing} run={run} again={again}>
      <Field label={t.name} value={value.name} onChange={(next) => edit({ name: next })} maxLength={limits.name} required />
      <Field
        label={t.description}
        value={value.description}
        onChange={(next) => edit({ description: next })}
        maxLength={limits.description}
        lines
      />
    </FormDialog>
  );
}
