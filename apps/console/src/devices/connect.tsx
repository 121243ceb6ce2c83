import type { TargetView } from "@harrier/contracts";
import { useQuery } from "@tanstack/react-query";
import { server } from "../api/client.ts";
import { me } from "../api/session.ts";
import { Simulated } from "../overview/simulated.tsx";
import { commands, connect as t } from "../text/en.ts";
import { Button } from "../ui/button.tsx";
import { CopyButton, copyText } from "../ui/copy.tsx";
import { InfoDialog } from "../ui/info-dialog.tsx";
import { Facts } from "../ui/page.tsx";
import style from "./connect.module.css";
import { pollAddress, pollCommand } from "./connect.state.ts";

/** What stands for the token where it is shown: it is copied, never shown. */
const unseen = "…";

/** How a device that was added reaches the server; closing it leads to its page. */
export function Connect({ of: { controllerId, securityToken }, close }: { of: TargetView; close: () => void }) {
  const { data } = useQuery(me);
  const tenant = data?.tenant ?? "";
  const device = { server: server.href, tenant, controllerId };
  return (
    <InfoDialog wide title={t.title(controllerId)} text={t.text} closeText={t.done} close={close}>
      <Facts
        of={[
          [t.address, <code key="address">{pollAddress(device)}</code>],
          [t.server, <code key="server">{server.href.replace(/\/$/, "")}</code>],
          [t.tenant, <code key="tenant">{tenant}</code>],
          [
            t.token,
            securityToken === undefined ? (
              t.tokenHidden
            ) : (
              <Button key="token" small onClick={() => copyText(securityToken)}>
                {t.copyToken}
              </Button>
            ),
          ],
        ]}
      />
      <div className={style["example"]}>
        <b>{t.example}</b>
        <div className={style["command"]}>
          <code>{pollCommand(device, unseen)}</code>
          <CopyButton text={pollCommand(device, securityToken ?? unseen)} label={commands.copy(t.example)} />
        </div>
        <p className="muted">{t.exampleText}</p>
      </div>
      <div className={style["example"]}>
        <b>{t.simulated}</b>
        <Simulated />
      </div>
    </InfoDialog>
  );
}
