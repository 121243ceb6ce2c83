import type { TargetView } from "@harrier/contracts";
import { useQuery } from "@tanstack/react-query";
import { ask, change, r } from "../api/client.ts";
import { useLacking } from "../api/permissions.ts";
import { invalidate } from "../api/query-client.ts";
import { states, device as t } from "../text/en.ts";
import { Button } from "../ui/button.tsx";
import { Confirm } from "../ui/confirm.tsx";
import { copyText } from "../ui/copy.tsx";
import { Card } from "../ui/page.tsx";
import { Failure, Note, Skeleton } from "../ui/states.tsx";
import { Mark } from "../ui/status.tsx";
import { toast, toastFailure } from "../ui/toast.tsx";
import style from "./device.module.css";

/** How the device signs in, and whether its updates wait for a consent. The token is copied, never shown. */
export function AccessTab({ target }: { target: TargetView }) {
  return (
    <div className={style["stack"]} style={{ maxWidth: 720 }}>
      <Token target={target} />
      {target.autoConfirmActive !== undefined && <AutoConfirm targetId={target.controllerId} />}
    </div>
  );
}

const tokenSetting = { key: "authentication.targettoken.enabled" } as const;

/** Says that devices may not sign in with tokens of their own, as it is in a new tenant, and lets them. */
function TokensOff() {
  const mayRead = useLacking(r.configs.get) === undefined;
  const lacking = useLacking(r.configs.put);
  const { data } = useQuery({ ...ask(r.configs.get, { params: tokenSetting }), enabled: mayRead });
  if (data?.value !== false) return null;
  const turnOn = () => {
    change(r.configs.put, { params: tokenSetting, body: { value: true } }).then(() => invalidate("configs"), toastFailure);
  };
  return (
    <Note tone="warn">
      <p>{t.tokensOff(tokenSetting.key)}</p>
      <Button small why={lacking && states.missing(lacking)} onClick={turnOn}>
        {t.tokensOn}
      </Button>
    </Note>
  );
}

/** A token of 256 bits in hexadecimal digits. */
const newToken = () => crypto.getRandomValues(new Uint8Array(32)).reduce((text, byte) => text + byte.toString(16).padStart(2, "0"), "");

function Token({ target }: { target: TargetView }) {
  const lacking = useLacking(r.targets.update);
  const token = target.securityToken;
  const rotate = async () => {
    await change(r.targets.update, { params: { targetId: target.controllerId }, body: { securityToken: newToken() } });
    toast(t.rotated);
    await invalidate("targets");
  };
  return (
    <Card title={t.token}>
      <div className={style["stack"]}>
        <TokensOff />
        <p className="muted">{token === undefined ? t.tokenHidden : t.tokenText}</p>
        <div className={style["buttons"]}>
          {token !== undefined && <Button onClick={() => copyText(token)}>{t.tokenCopy}</Button>}
          <Confirm
            look="danger"
            why={lacking && states.missing(lacking)}
            trigger={t.rotate}
            title={t.rotate}
            text={t.rotateText}
            button={t.rotate}
            run={rotate}
          />
        </div>
      </div>
    </Card>
  );
}

function AutoConfirm({ targetId }: { targetId: string }) {
  const { data, error, refetch } = useQuery(ask(r.targets.autoConfirm, { params: { targetId } }));
  const lacking = useLacking(r.targets.activateAutoConfirm);
  if (data == null)
    return (
      <Card title={t.autoConfirm}>{error === null ? <Skeleton lines={2} /> : <Failure error={error} retry={() => void refetch()} />}</Card>
    );
  const turn = () => {
    const done = data.active
      ? change(r.targets.deactivateAutoConfirm, { params: { targetId } })
      : change(r.targets.activateAutoConfirm, { params: { targetId }, body: {} });
    done.then(() => invalidate("targets"), toastFailure);
  };
  return (
    <Card title={t.autoConfirm} aside={data.active ? <Mark tone="ok" sign="✓" word={t.isOn} /> : undefined}>
      <div className={style["stack"]}>
        <p className="muted">{data.active ? t.autoOn : t.autoOff}</p>
        <div className={style["buttons"]}>
          <Button why={lacking && states.missing(lacking)} onClick={turn}>
            {data.active ? t.turnOff : t.turnOn}
          </Button>
        </div>
      </div>
    </Card>
  );
}
