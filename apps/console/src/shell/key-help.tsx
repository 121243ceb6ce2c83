import { Dialog } from "@base-ui/react/dialog";
import { jumping, shell as t } from "../text/en.ts";
import { Button } from "../ui/button.tsx";
import overlay from "../ui/overlay.module.css";
import style from "./palette.module.css";

/** The keys of all pages, as the help shows them; those of grids are in ui/grid.tsx. */
const keyTable = [
  { keys: ["Ctrl", "K"], does: jumping.keyNames.palette },
  { keys: ["/"], does: jumping.keyNames.filter },
  { keys: ["g", "o"], does: jumping.keyNames.overview },
  { keys: ["g", "d"], does: jumping.keyNames.devices },
  { keys: ["g", "r"], does: jumping.keyNames.rollouts },
  { keys: ["g", "s"], does: jumping.keyNames.software },
  { keys: ["j", "k"], does: jumping.keyNames.rows },
  { keys: ["Enter"], does: jumping.keyNames.open },
  { keys: ["x"], does: jumping.keyNames.choose },
  { keys: ["?"], does: jumping.keyNames.help },
  { keys: ["Esc"], does: jumping.keyNames.close },
] as const;

/** The list of keys. */
export function KeyHelp({ close }: { close: () => void }) {
  return (
    <Dialog.Root open onOpenChange={(open) => open || close()}>
      <Dialog.Portal>
        <Dialog.Backdrop className={overlay["backdrop"]} />
        <Dialog.Popup className={overlay["popup"]}>
          <Dialog.Title>{t.keysTitle}</Dialog.Title>
          <dl className={style["keys"]}>
            {keyTable.map(({ keys, does }) => (
              <div key={keys.join()}>
                <dt>{does}</dt>
                <dd>
                  {keys.map((key) => (
                    <kbd key={key}>{key}</kbd>
                  ))}
                </dd>
              </div>
            ))}
          </dl>
          <div className={overlay["buttons"]}>
            <Dialog.Close render={<Button />}>{t.close}</Dialog.Close>
          </div>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
