import HaulCommand

HaulMain.main()
