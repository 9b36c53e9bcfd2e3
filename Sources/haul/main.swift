import Glibc
import HaulCommand

exit(await HaulMain.run(Array(CommandLine.arguments.dropFirst())))
