import { expect, it } from 'vitest'
import { installVersion } from './install.ts'

const here = { env: process.env, cwd: '/' }

it('trusts the disk, not the exit code of the installer', async () => {
  const how = { ...here, command: 'echo added 1 package of {version}', installedVersion: () => '0.1.0' }
  await expect(installVersion('0.2.0', how)).rejects.toMatchObject({
    code: 'MACHINE_REFUSED',
    message: expect.stringMatching(/still runs ralph 0\.1\.0.*added 1 package of 0\.2\.0/),
  })
  await installVersion('0.1.0', how)
})

it("reports why an install failed, with the machine's secrets redacted", async () => {
  const env = { ...process.env, NPM_TOKEN: 'npm_0123456789abcdefghij0123456789abcdef' }
  const failing = installVersion('0.2.0', {
    ...here,
    env,
    command: 'echo "{version}: not with $NPM_TOKEN" >&2; exit 7',
  })
  await expect(failing).rejects.toMatchObject({
    message: expect.stringMatching(/exit code 7.*0\.2\.0: not with (?!npm_0)/),
  })
})
