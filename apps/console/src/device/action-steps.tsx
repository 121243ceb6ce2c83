import type { ActionView } from "@harrier/contracts";
import { change, r } from "../api/client.ts";
import { useLacking } from "../api/permissions.ts";
import { invalidate } from "../api/query-client.ts";
import { states, device as t } from "../text/en.ts";
import { Confirm } from "../ui/confirm.tsx";
import style from "./device.module.css";
import { ProofSteps } from "./proof-steps.tsx";

/** What can be done with an open update; what is shown is always what the next GET says. */
export function ActionSteps({ action, targetId, status }: { action: ActionView; targetId: string; status: string }) {
  const params = { targetId, actionId: action.id };
  const lacking = useLacking(r.targets.cancelAction);
  const lacksConfirm = useLacking(r.targets.confirmAction);
  const why = lacking && states.missing(lacking);
  const then = (done: Promise<unknown>) => done.then(() => invalidate("targets", "actions"));
  const canceling = status === "canceling";
  return (
    <div className={style["buttons"]}>
      <ProofSteps action={action} targetId={targetId} />
      {status === "wait_for_confirmation" && (
        <Confirm
          small
          look="primary"
          why={lacksConfirm && states.missing(lacksConfirm)}
          trigger={t.confirm}
          title={t.confirm}
          text={t.confirmText}
          button={t.confirm}
          run={() => then(change(r.targets.confirmAction, { params, body: { confirmation: "confirmed", details: [] } }))}
        />
      )}
      {status === "wait_for_confirmation" && (
        <Confirm
          small
          why={lacksConfirm && states.missing(lacksConfirm)}
          trigger={t.deny}
          title={t.deny}
          text={t.denyText}
          button={t.deny}
          run={() => then(change(r.targets.confirmAction, { params, body: { confirmation: "denied", details: [] } }))}
        />
      )}
      {action.forceType === "soft" && (
        <Confirm
          small
          why={why}
          trigger={t.force}
          title={t.force}
          text={t.forceText}
          button={t.force}
          run={() => then(change(r.targets.forceAction, { params, body: { forceType: "forced" } }))}
        />
      )}
      <Confirm
        small
        look="danger"
        why={why}
        trigger={canceling ? t.forceCancel : t.cancel}
        title={canceling ? t.forceCancel : t.cancel}
        text={canceling ? t.forceCancelText : t.cancelText}
        button={canceling ? t.forceCancel : t.cancel}
        run={() => then(change(r.targets.cancelAction, { params, query: { force: canceling } }))}
      />
    </div>
  );
}
